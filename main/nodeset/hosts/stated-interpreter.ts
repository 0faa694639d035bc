// `server_python` that is code: the nodeset is imported once, in a short-lived isolated helper, and says what it is.
// Only for folders that are trusted; answers are kept while the file does not change.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { withDeadline } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError, messageOf } from '../../base/errors.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import type { NodesetSource } from '../version.ts';

export interface StatedInterpreterOptions {
  readonly processes: Pick<ProcessRegistry, 'spawn'>;
  readonly clock: Clock;
  readonly interpreter: () => Promise<string>;
  /** Folder that holds state_interpreter.py. */
  readonly pythonFolder: string;
}

const answer = z.union([z.object({ server_python: z.string().nullable() }), z.object({ error: z.string() })]);
const helperTimeoutMs = 120_000;

export function createStatedInterpreter(
  options: StatedInterpreterOptions,
): (source: NodesetSource) => Promise<string | undefined> {
  const known = new Map<string, Promise<string | undefined>>();
  return async (source) => {
    const { mtimeMs } = await stat(source.entry);
    const key = `${source.entry}\n${source.className}\n${mtimeMs}`;
    const answered = known.get(key) ?? ask(options, source);
    known.set(key, answered);
    answered.catch(() => known.delete(key));
    return await answered;
  };
}

async function ask(
  { processes, clock, interpreter, pythonFolder }: StatedInterpreterOptions,
  source: NodesetSource,
): Promise<string | undefined> {
  const command = await interpreter();
  const helper = await processes.spawn({
    command,
    args: ['-I', path.join(pythonFolder, 'state_interpreter.py'), source.entry, source.className ?? ''],
    cwd: path.dirname(source.entry),
    label: `interpreter of ${source.name}`,
    env: source.env ?? {},
  });
  try {
    const line = await withDeadline(helper.handshakeLine, {
      clock,
      timeoutMs: helperTimeoutMs,
      what: `asking ${source.entry} for its server_python`,
    });
    const said = answer.parse(JSON.parse(line));
    if ('error' in said) throw new Error(said.error);
    return said.server_python ?? undefined;
  } catch (error) {
    await helper.kill();
    const why = error instanceof StudioError ? (helper.stderrTail(1)[0] ?? error.message) : messageOf(error);
    throw new StudioError(
      'nodeset_failed',
      `server_python of "${source.name}" is code that could not be run with ${command}: ${why} Name an interpreter for it with \`agentcanvas nodesets set-interpreter ${source.name} PYTHON\`, or write server_python as a plain text`,
      { details: { interpreter: command, stderrTail: [...helper.stderrTail(20)] } },
    );
  } finally {
    await helper.kill();
  }
}
