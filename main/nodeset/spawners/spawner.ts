// Where a host process runs. One file per place; adding a place touches nothing else.
import type { ServerNeeds, SpawnPlace } from '../../contract/spawners.ts';
import type { HostProcess, StartHostOptions } from '../../process/ports.ts';

/** What places other than this machine must know about a start. */
export interface HostPlacement {
  readonly place: SpawnPlace;
  readonly nodeset: string;
  readonly needs: ServerNeeds;
  /** Absolute folders and files of this machine that the process reads: its code and the host package. */
  readonly files: readonly string[];
  /** The nodeset's interpreter here, where one was resolved. */
  readonly interpreter?: string | undefined;
}

export interface HostRequest extends StartHostOptions {
  readonly placement?: HostPlacement | undefined;
}

export interface Spawner extends Partial<AsyncDisposable> {
  /** `local`, `docker`, `ray`: shown where a process is listed. */
  readonly place: string;
  /** Rejects with `spawn_failed`, `handshake_failed`, `timeout` or `aborted`; then nothing of it is left. */
  start(options: HostRequest): Promise<HostProcess>;
}
