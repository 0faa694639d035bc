// Command line of the TypeScript host: this very Node (or Electron as Node) and node-host, with a compiled bundle.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { StudioError } from '../../base/errors.ts';
import type { HostLauncher } from './launcher.ts';

export interface NodeLauncherOptions {
  /** Default: the running program. */
  readonly nodeCommand?: string;
  /** Default: node-host.ts here, or node-host.mjs beside the engine's bundle. */
  readonly hostProgram?: string;
  /** Compiled code of the host program is kept here: a start then takes a third of the processor time. */
  readonly compileCacheFolder?: string;
}

export function createNodeLauncher(options: NodeLauncherOptions = {}): HostLauncher {
  const command = options.nodeCommand ?? process.execPath;
  const program = options.hostProgram ?? defaultHostProgram();
  const env: Readonly<Record<string, string>> = {
    ...(process.versions['electron'] && { ELECTRON_RUN_AS_NODE: '1' }),
    ...(options.compileCacheFolder !== undefined && { NODE_COMPILE_CACHE: options.compileCacheFolder }),
  };
  return {
    commandFor({ version, instance }) {
      const { source, bundlePath } = version;
      if (bundlePath === undefined)
        throw new StudioError('internal', `nodeset "${source.name}" was not compiled before its start`);
      const args = [
        '--enable-source-maps',
        // Else the garbage of quick episodes stays for long, in every replica.
        '--initial-old-space-size=16',
        program,
        '--file',
        bundlePath,
        '--name',
        source.name,
        '--instance',
        instance,
      ];
      return Promise.resolve({ command, args, cwd: path.dirname(source.entry), env });
    },
  };
}

function defaultHostProgram(): string {
  const beside = [new URL('./node-host.ts', import.meta.url), new URL('./node-host.mjs', import.meta.url)];
  const found = beside.map((url) => fileURLToPath(url)).find((file) => existsSync(file));
  if (found === undefined)
    throw new StudioError(
      'internal',
      'the program node-host is missing from this installation; install the app again',
    );
  return found;
}
