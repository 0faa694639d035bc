// Where a host process runs. One file per place; adding a place touches nothing else.
import type { HostProcess, StartHostOptions } from '../../process/ports.ts';

export interface Spawner {
  /** `local`, `docker`, `ray`: shown where a process is listed. */
  readonly place: string;
  /** Rejects with `spawn_failed`, `handshake_failed`, `timeout` or `aborted`; then nothing of it is left. */
  start(options: StartHostOptions): Promise<HostProcess>;
}
