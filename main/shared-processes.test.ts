// Whole runs whose Python environments share a process: the same results as with a process each, whatever happens to
// the process, and only the one that did it is held to account.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RequestInput, RequestName } from './contract/api.ts';
import type { EvalConfigInput } from './contract/eval-config.ts';
import type { EpisodeAttempt } from './contract/run.ts';
import { pythonInterpreter } from './nodeset/testing/test-registry.ts';
import { askStudio, markedProcesses, openPythonStudio, type PythonStudio } from './testing/python-studio.ts';

const interpreter = pythonInterpreter();
const mark = `ac-crowd-${process.pid}-${Date.now()}`;
const episodeCount = 24;
const ended = ['completed', 'completed_with_errors', 'paused', 'failed', 'cancelled'];
let python: PythonStudio;

const ask = <Name extends RequestName>(name: Name, input: RequestInput<Name>) =>
  askStudio(python.studio, name, input);

const alive = () => markedProcesses(mark);

interface Ended {
  readonly status: string;
  readonly rows: readonly EpisodeAttempt[];
  readonly finals: readonly unknown[];
  /** Processes while episodes ran. */
  readonly mostAlive: number;
  /** Folders of episodes of which something was recorded. */
  readonly recorded: readonly string[];
}

/** `meanwhile` is called every 40 ms with the processes of the moment, while episodes run. */
async function evaluate(
  split: string,
  config: Partial<EvalConfigInput>,
  meanwhile: (pids: readonly number[], finished: number) => void = () => undefined,
): Promise<Ended> {
  const { runId } = await ask('runs.start', {
    config: { graph: 'crowded', selectors: { split }, workerCount: 4, ...config },
  });
  let mostAlive = 0;
  for (;;) {
    const { record, summary } = await ask('runs.get', { runId });
    if (ended.includes(record.status)) {
      const rows = await attemptsOf(runId);
      const finals = rows
        .filter((row) => row.final)
        .map(({ ordinal, status, metrics, steps }) => ({ ordinal, status, metrics, steps }));
      const episodes = path.join(python.workspace, 'outputs/eval_runs', runId, 'episodes');
      const recorded = existsSync(episodes) ? await readdir(episodes) : [];
      return { status: record.status, rows, finals, mostAlive, recorded };
    }
    const pids = await alive();
    if (record.status === 'running') {
      mostAlive = Math.max(mostAlive, pids.length);
      meanwhile(pids, summary.counts.completed);
    }
    await delay(40);
  }
}

async function attemptsOf(runId: string): Promise<EpisodeAttempt[]> {
  const ordinals = Array.from({ length: episodeCount }, (_, ordinal) => ordinal);
  const all = await Promise.all(ordinals.map((ordinal) => ask('runs.attempts', { runId, ordinal })));
  return all.flatMap(({ attempts }) => attempts);
}

/** What each episode ends with: independent of who ran it, when and in which process. */
const expected = Array.from({ length: episodeCount }, (_, ordinal) => ({
  ordinal,
  status: 'completed',
  metrics: { score: ordinal * 55, own_panel: 1 },
  steps: 10,
}));

describe.skipIf(process.platform !== 'linux' || !existsSync(interpreter))(
  'environments that share a process',
  () => {
    beforeAll(async () => {
      python = await openPythonStudio('crowded', mark, (home) => vi.stubEnv('AGENTCANVAS_HOME', home));
    }, 60_000);
    afterAll(async () => {
      await python[Symbol.asyncDispose]();
      vi.unstubAllEnvs();
    });

    it('give the results they give with a process each, each with its own module, and leave nothing behind', async () => {
      const apart = await evaluate('well', {});
      const shared = await evaluate('well', { envsPerProcess: 4 });
      const halves = await evaluate('well', { envsPerProcess: 3 });
      for (const { status, finals, rows } of [apart, shared, halves]) {
        expect(status).toBe('completed');
        expect(finals).toEqual(expected);
        expect(rows).toHaveLength(episodeCount);
      }
      expect([apart.mostAlive, shared.mostAlive, halves.mostAlive]).toEqual([4, 1, 2]);
      expect(await alive()).toEqual([]);
    }, 60_000);

    it('are all repeated when somebody kills their process, and every episode counts once', async () => {
      let kills = 0;
      const { status, rows, finals } = await evaluate('well', { envsPerProcess: 4 }, (pids, finished) => {
        const [pid] = pids;
        if (pid === undefined || kills >= 2 || finished < 4 * (kills + 1)) return;
        process.kill(pid, 'SIGKILL');
        kills++;
      });
      expect(kills).toBe(2);
      expect(status).toBe('completed');
      expect(finals).toEqual(expected);
      // Each death is put down to the environment whose call ran last; the others use up no attempt.
      const died = rows.filter((row) => row.status === 'died');
      expect(died.length).toBeLessThanOrEqual(kills);
      expect(rows).toHaveLength(episodeCount + died.length);
      expect(await alive()).toEqual([]);
    }, 60_000);

    it.each([
      ['segfaults', 'died', /SIGSEGV in step 1/],
      ['hangs', 'timeout', /crowded#\d did not answer within 1\.5 s \(step\)/],
      ['hangs_with_lock', 'timeout', /crowded#\d did not answer within 1\.5 s \(step\)/],
    ] as const)(
      '%s: only the episode that did it is judged, its mates are repeated without an attempt used up',
      async (split, outcome, message) => {
        const { status, rows, finals, recorded } = await evaluate(split, { envsPerProcess: 4 });
        expect(status).toBe('completed_with_errors');
        const own = rows.filter((row) => row.ordinal === 3);
        expect(own.map((row) => [row.attempt, row.status, row.final])).toEqual([
          [1, outcome, false],
          [2, outcome, true],
        ]);
        expect(own[1]?.error?.message).toMatch(message);
        expect(own[1]?.error?.scope).toMatchObject({ phase: 'step', step: 1 });
        expect(recorded).toEqual([own[1]?.key]);
        const mates = rows.filter((row) => row.ordinal !== 3);
        expect(mates.map((row) => row.attempt)).toEqual(mates.map(() => 1));
        expect(finals.toSpliced(3, 1)).toEqual(expected.toSpliced(3, 1));
        expect(await alive()).toEqual([]);
      },
      60_000,
    );
  },
);
