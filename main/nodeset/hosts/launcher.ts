// How the host of a nodeset is started: a command line per language. Nothing runs here.
import type { SpawnPlace } from '../../contract/spawners.ts';
import type { StudioError } from '../../base/errors.ts';
import type { NodesetVersion } from '../version.ts';

export interface HostCommand {
  /** Absolute path of the interpreter. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folders and files of this machine it reads, for places that do not share its disk. */
  readonly files?: readonly string[] | undefined;
  /** Makes of a failed start what its reader can act on. */
  readonly explain?: ((failure: StudioError) => Promise<StudioError>) | undefined;
}

export interface LaunchRequest {
  readonly version: Pick<NodesetVersion, 'source' | 'bundlePath' | 'interpreter'>;
  /** `name#k`, or the nodeset's name. */
  readonly instance: string;
  /** Default: `local`. */
  readonly place?: SpawnPlace | undefined;
  /** Environments the process is to serve, each through a channel of its own. Default: one. Python only. */
  readonly channelCount?: number | undefined;
}

export interface HostLauncher {
  /** Rejects with `interpreter_not_found`; the message says where was looked. */
  commandFor(request: LaunchRequest): Promise<HostCommand>;
}
