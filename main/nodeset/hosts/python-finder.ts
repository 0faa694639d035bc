// Python nodesets of a folder, read from syntax trees by a short-lived isolated helper. Their code is not run.
import path from 'node:path';
import { z } from 'zod';
import { withDeadline } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import type { FoundSources, NodesetFolder, PythonFinder } from '../scan.ts';
import type { NodesetSource } from '../version.ts';

export interface PythonFinderOptions {
  readonly processes: Pick<ProcessRegistry, 'spawn'>;
  readonly clock: Clock;
  /** Absolute; any Python from 3.8 on. */
  readonly interpreter: () => Promise<string>;
  /** Folder that holds find_nodesets.py. */
  readonly pythonFolder: string;
}

const helperTimeoutMs = 30_000;
const answerSchema = z.object({
  nodesets: z.array(
    z.union([
      z.object({
        file: z.string(),
        class: z.string(),
        name: z.string(),
        server_python: z.string().nullish(),
        server_env: z.record(z.string(), z.string()).optional(),
      }),
      z.object({ file: z.string(), error: z.string() }),
    ]),
  ),
});
type Found = z.infer<typeof answerSchema>['nodesets'][number];

export function createPythonFinder(options: PythonFinderOptions): PythonFinder {
  return async (folder) => {
    const answer = answerSchema.parse(JSON.parse(await askHelper(options, folder.folder)));
    const found: FoundSources = { sources: [], bad: [] };
    for (const entry of answer.nodesets) sort(found, folder, entry);
    return found;
  };
}

async function askHelper(
  { processes, clock, interpreter, pythonFolder }: PythonFinderOptions,
  folder: string,
): Promise<string> {
  const args = ['-I', path.join(pythonFolder, 'find_nodesets.py'), folder];
  const helper = await processes.spawn({
    command: await interpreter(),
    args,
    cwd: pythonFolder,
    label: 'find-nodesets',
  });
  try {
    return await withDeadline(helper.handshakeLine, {
      clock,
      timeoutMs: helperTimeoutMs,
      what: `reading the Python files in ${folder}`,
    });
  } finally {
    await helper.kill();
  }
}

function sort({ sources, bad }: FoundSources, { folder, origin }: NodesetFolder, found: Found): void {
  const home = path.dirname(found.file);
  const isAlone = home === folder;
  const place = { path: isAlone ? found.file : home, entry: found.file, language: 'python' as const, origin };
  if ('error' in found) {
    const name = path.basename(isAlone ? found.file : home, '.py');
    bad.push({
      source: { ...place, name },
      error: new StudioError('nodeset_failed', `${found.file} cannot be read as Python: ${found.error}`),
    });
    return;
  }
  const source: NodesetSource = {
    ...place,
    name: found.name,
    className: found.class,
    interpreter: found.server_python ?? undefined,
    env: found.server_env,
  };
  sources.push(source);
}
