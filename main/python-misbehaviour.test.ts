// Whole runs over a Python environment that goes wrong in every way environments do, through the real engine.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RequestInput, RequestName } from './contract/api.ts';
import type { EpisodeAttempt } from './contract/run.ts';
import { pythonInterpreter } from './nodeset/testing/test-registry.ts';
import { askStudio, markedProcesses, openPythonStudio, type PythonStudio } from './testing/python-studio.ts';

const interpreter = pythonInterpreter();
const mark = `ac-${process.pid}-${Date.now()}`;
let python: PythonStudio;

const ask = <Name extends RequestName>(name: Name, input: RequestInput<Name>) =>
  askStudio(python.studio, name, input);

const alive = () => markedProcesses(mark);

interface Ended {
  readonly attempts: readonly EpisodeAttempt[];
  readonly status: string;
  readonly log: string;
  /** Most processes of it that were seen at once. */
  readonly mostAlive: number;
}

/** A run of episodes 0 and 1 of a split, one attempt each. */
async function evaluate(split: string): Promise<Ended> {
  const config = { graph: 'misbehaving', selectors: { split }, retry: { attempts: 1 } };
  const { runId } = await ask('runs.start', { config });
  let mostAlive = 0;
  for (;;) {
    mostAlive = Math.max(mostAlive, (await alive()).length);
    const { record } = await ask('runs.get', { runId });
    if (!['queued', 'preparing', 'running', 'stopping'].includes(record.status)) {
      const attempts = await Promise.all([0, 1].map((ordinal) => ask('runs.attempts', { runId, ordinal })));
      const { lines } = await ask('nodesets.log', { name: 'misbehaving' });
      return {
        status: record.status,
        attempts: attempts.flatMap((each) => each.attempts),
        log: lines.join('\n'),
        mostAlive,
      };
    }
    await delay(50);
  }
}

describe.skipIf(process.platform !== 'linux' || !existsSync(interpreter))('a Python environment that', () => {
  beforeAll(async () => {
    python = await openPythonStudio('misbehaving', mark, (home) => vi.stubEnv('AGENTCANVAS_HOME', home));
  }, 60_000);
  afterAll(async () => {
    await python[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
  });

  it.each(['prints_a_gigabyte', 'invalid_utf8', 'prints_from_c', 'forks'])(
    '%s harms nothing: both episodes complete, its output is in the log, nothing is left running',
    async (split) => {
      const { status, attempts, log, mostAlive } = await evaluate(split);
      expect(status).toBe('completed');
      expect(attempts.map((attempt) => [attempt.status, attempt.steps])).toEqual([
        ['completed', 3],
        ['completed', 3],
      ]);
      expect(log.split('\n').slice(-20)).toContain(`misbehaving#0: last words of ${split}`);
      expect(mostAlive).toBeGreaterThanOrEqual(split === 'forks' ? 3 : 1);
      expect(await alive()).toEqual([]);
    },
    60_000,
  );

  it('printed in every way is read to the end, bounded, with what is no UTF-8 replaced', async () => {
    const { lines } = await ask('nodesets.log', { name: 'misbehaving' });
    expect(lines.length).toBeLessThanOrEqual(200);
    await evaluate('invalid_utf8');
    const { lines: later } = await ask('nodesets.log', { name: 'misbehaving' });
    expect(later).toContain('misbehaving#0: \ufffd\ufffd broken \ufffd( text');
    await evaluate('prints_from_c');
    expect((await ask('nodesets.log', { name: 'misbehaving' })).lines).toContain(
      'misbehaving#0: written by C',
    );
  }, 60_000);

  it.each([
    ['ignores_sigterm', 'timeout', 'timeout', /did not answer within 5 s \(step\)/],
    ['segfaults', 'died', 'process_died', /SIGSEGV/],
  ] as const)(
    '%s costs its own episode, with phase, step and last lines, and is gone',
    async (split, status, code, message) => {
      const { attempts } = await evaluate(split);
      expect(attempts.map((attempt) => attempt.status)).toEqual(['completed', status]);
      const error = attempts[1]?.error;
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
      expect(error?.scope).toMatchObject({ phase: 'step', step: 1 });
      expect(JSON.stringify(error)).toContain(`last words of ${split}`);
      expect(await alive()).toEqual([]);
    },
    60_000,
  );

  it('raises in reset costs its own episode and says so', async () => {
    const { attempts, log } = await evaluate('raises_in_reset');
    expect(attempts.map((attempt) => attempt.status)).toEqual(['completed', 'error']);
    expect(attempts[1]?.error).toMatchObject({
      message: expect.stringContaining('the scene cannot be loaded') as string,
      scope: { phase: 'reset' },
    });
    expect(log).toContain('last words of raises_in_reset');
    expect(await alive()).toEqual([]);
  }, 60_000);

  it('returns garbage has its node named with what it must return', async () => {
    const { attempts } = await evaluate('returns_garbage');
    expect(attempts[0]?.status).toBe('completed');
    expect(attempts[1]?.nodeErrors).toMatchObject([
      {
        nodePath: 'step',
        step: 1,
        message: expect.stringMatching(/Step\.forward returned int; return a dict/) as string,
      },
    ]);
    expect(await alive()).toEqual([]);
  }, 60_000);
});
