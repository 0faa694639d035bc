// Python nodesets of a folder, read from syntax trees by a short-lived isolated helper. Their code is not run.
import path from 'node:path';
import { z } from 'zod';
import { withDeadline } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import { serverNeeds } from '../../contract/spawners.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import type { BadCandidate, NodesetFolder, PythonFinder } from '../scan.ts';
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
const stated = z.union([
  z.object({ kind: z.literal('default') }),
  z.object({ kind: z.literal('value'), value: z.string() }),
  z.object({ kind: z.literal('conda'), environment: z.string() }),
  z.object({ kind: z.literal('expression') }),
]);
const foundNodeset = z.looseObject({
  file: z.string(),
  class_name: z.string(),
  name: z.string(),
  server_python: stated,
  server_env: z.record(z.string(), z.coerce.string()).nullish(),
  script: z.string().nullish(),
  imports: z.array(z.string()).default([]),
});
const answerSchema = z.object({
  nodesets: z.array(foundNodeset),
  problems: z.array(z.object({ file: z.string(), error: z.string() })),
});
type Place = Pick<NodesetSource, 'path' | 'entry' | 'language' | 'origin'>;

export function createPythonFinder(options: PythonFinderOptions): PythonFinder {
  return async (folder) => {
    const answer = answerSchema.parse(JSON.parse(await askHelper(options, folder.folder)));
    const sources: NodesetSource[] = [];
    const bad = answer.problems.map((problem) => unreadable(problem, placeOf(folder, problem.file)));
    for (const found of answer.nodesets) {
      const source = sourceOf(found, placeOf(folder, found.file));
      const needs = serverNeeds.safeParse(needsIn(found));
      sources.push(needs.success ? { ...source, needs: needs.data } : source);
      if (!needs.success) bad.push({ source, error: misstated(found.class_name, needs.error) });
    }
    return { sources: sources.filter((source) => !bad.some((each) => each.source === source)), bad };
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

function placeOf({ folder, origin }: NodesetFolder, file: string): Place {
  const home = path.dirname(file);
  return { path: home === folder ? file : home, entry: file, language: 'python', origin };
}

function sourceOf(found: z.infer<typeof foundNodeset>, place: Place): NodesetSource {
  const { server_python: python, server_env: env, script, imports } = found;
  return {
    ...place,
    name: found.name,
    className: found.class_name,
    interpreter:
      python.kind === 'value'
        ? python.value
        : python.kind === 'conda'
          ? `conda:${python.environment}`
          : undefined,
    interpreterIsCode: python.kind === 'expression',
    script: script ?? undefined,
    imports,
    env: env ?? undefined,
  };
}

/** `server_image` and its like, as the class writes them. */
function needsIn(found: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.keys(serverNeeds.shape).map((member) => [member, found[`server_${member}`]]),
  );
}

function misstated(className: string, { issues }: z.ZodError): StudioError {
  const [first] = issues;
  return new StudioError(
    'nodeset_failed',
    `server_${first?.path.join('.') ?? ''} of ${className} cannot be used: ${first?.message ?? 'wrong type'}; correct it and scan again`,
  );
}

function unreadable(problem: { readonly file: string; readonly error: string }, place: Place): BadCandidate {
  const name = path.basename(place.path, '.py');
  return {
    source: { ...place, name },
    error: new StudioError(
      'nodeset_failed',
      `${problem.file} cannot be read as Python: ${problem.error}; correct it and scan again`,
    ),
  };
}
