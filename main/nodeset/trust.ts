// The gate before any code of a nodeset is imported or run.
import path from 'node:path';
import { StudioError } from '../base/errors.ts';
import type { HostLauncher } from './hosts/launcher.ts';
import type { NodesetSource } from './version.ts';

/** Whether code at this absolute path (a file or folder) may run. Decided outside, per folder or content. */
export type TrustPort = (path: string) => boolean | Promise<boolean>;

export interface TrustGate {
  readonly isTrusted: TrustPort;
  readonly launcher: HostLauncher;
}

/** Throws `untrusted`, naming what would run. */
export async function assertTrusted(
  source: NodesetSource,
  { isTrusted, launcher }: TrustGate,
): Promise<void> {
  if (await isTrusted(source.path)) return;
  const wouldRun = await commandLine(source, launcher);
  throw new StudioError(
    'untrusted',
    `nodeset "${source.name}" lies in a folder that is not trusted: ${source.path}. It would run: ${wouldRun}. Trust the folder (\`--trust PATH\` on the command line) if you know who wrote it`,
    {
      details: { path: source.path, folder: path.dirname(source.path), wouldRun: [wouldRun] },
    },
  );
}

async function commandLine(source: NodesetSource, launcher: HostLauncher): Promise<string> {
  if (source.language === 'typescript') return `${source.entry} (in this app and in Node child processes)`;
  try {
    const { command, args } = await launcher.commandFor({
      version: { source, bundlePath: undefined },
      instance: source.name,
    });
    return [command, ...args].join(' ');
  } catch {
    return `${source.interpreter ?? 'python3'} with ${source.entry}`;
  }
}
