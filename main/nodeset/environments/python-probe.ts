// What an interpreter is: one short isolated start of it. Answers are kept while the file does not change.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { withDeadline } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError, messageOf } from '../../base/errors.ts';
import type { ProcessRegistry } from '../../process/ports.ts';

const answer = z.object({
  version: z.string(),
  /** The real program: launchers of version managers cost a shell per start. */
  executable: z.string(),
  hasVenv: z.boolean(),
  /** Of the modules asked about, those that cannot be found. */
  missing: z.array(z.string()),
  /** Of the distributions asked about, those that are installed, with their versions. */
  installed: z.record(z.string(), z.string()),
});
export type PythonFacts = z.infer<typeof answer>;

export interface PythonProbe {
  /** Rejects with `interpreter_not_found` when it does not run or is no Python 3. */
  ask(interpreter: string, about?: ProbeQuestion): Promise<PythonFacts>;
}

export interface ProbeQuestion {
  readonly modules?: readonly string[];
  /** Names of packages as installers know them. */
  readonly distributions?: readonly string[];
}

/** Also parsed by Python 2, so that it can say what it is. */
const program = `
import json, os, sys
asked = json.loads(sys.argv[1])
missing, installed, has_venv = [], {}, False
try:
    from importlib.util import find_spec
    def found(name):
        try:
            return find_spec(name) is not None
        except Exception:
            return False
    missing = [name for name in asked["modules"] if not found(name)]
    has_venv = found("venv") and found("ensurepip")
    from importlib.metadata import version
    for name in asked["distributions"]:
        try:
            installed[name] = version(name)
        except Exception:
            pass
except ImportError:
    pass
out = os.fdopen(3, "w")
out.write(json.dumps({"version": ".".join(map(str, sys.version_info[:3])), "executable": os.path.abspath(sys.executable), "hasVenv": has_venv, "missing": missing, "installed": installed}) + chr(10))
out.close()
`;
const probeTimeoutMs = 30_000;
/** Within one scan the same is asked more than once. */
const packagesKeptMs = 2_000;

export function createPythonProbe(options: {
  readonly processes: Pick<ProcessRegistry, 'spawn'>;
  readonly clock: Clock;
}): PythonProbe {
  const known = new Map<string, { readonly facts: Promise<PythonFacts>; readonly askedMs: number }>();
  return {
    async ask(interpreter, about = {}) {
      const { mtimeMs } = await stat(interpreter).catch((error: unknown) => {
        throw notUsable(interpreter, messageOf(error));
      });
      // Versions do not change under a file; packages may be installed at any time.
      const keptMs = Object.keys(about).length > 0 ? packagesKeptMs : Infinity;
      const key = JSON.stringify([interpreter, mtimeMs, about]);
      const nowMs = options.clock.monotonic();
      const former = known.get(key);
      if (former && nowMs - former.askedMs < keptMs) return await former.facts;
      const facts = askNow(options, interpreter, about);
      known.set(key, { facts, askedMs: nowMs });
      facts.catch(() => known.delete(key));
      return await facts;
    },
  };
}

async function askNow(
  { processes, clock }: { readonly processes: Pick<ProcessRegistry, 'spawn'>; readonly clock: Clock },
  interpreter: string,
  { modules = [], distributions = [] }: ProbeQuestion,
): Promise<PythonFacts> {
  const child = await processes.spawn({
    command: interpreter,
    args: ['-c', program, JSON.stringify({ modules, distributions })],
    cwd: path.parse(interpreter).root,
    label: 'python-probe',
  });
  try {
    const line = await withDeadline(child.handshakeLine, {
      clock,
      timeoutMs: probeTimeoutMs,
      what: `asking ${interpreter} what it is`,
    });
    return answer.parse(JSON.parse(line));
  } catch (error) {
    await child.kill();
    throw notUsable(interpreter, child.stderrTail(1)[0] ?? messageOf(error));
  } finally {
    await child.kill();
  }
}

function notUsable(interpreter: string, why: string): StudioError {
  return new StudioError(
    'interpreter_not_found',
    `${interpreter} cannot be used as a Python interpreter: ${why}; name another one in Settings or on the Nodesets page`,
  );
}
