// How the host of a nodeset is started: a command line per language. Nothing runs here.
import type { NodesetVersion } from '../version.ts';

export interface HostCommand {
  /** Absolute path of the interpreter. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface LaunchRequest {
  readonly version: Pick<NodesetVersion, 'source' | 'bundlePath'>;
  /** `name#k`, or the nodeset's name. */
  readonly instance: string;
}

export interface HostLauncher {
  /** Rejects with `interpreter_not_found`; the message says where was looked. */
  commandFor(request: LaunchRequest): Promise<HostCommand>;
}
