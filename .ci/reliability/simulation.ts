// Row `simulation`: whole workspaces under a fake clock, a seeded scheduler and a swarm of faults; every seed twice.
// A seed is replayed, event by event, with `node .ci/reliability/simulation.ts SEED`.
import path from 'node:path';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { faultNames } from '../../main/eval/testing/simulation/faults.ts';
import { simulateWorkspace } from '../../main/eval/testing/simulation/workspace-world.ts';
import { atScale, type RowOptions, type RowResult } from './row.ts';
import type { SeedAnswer } from './simulation-worker.ts';

const threads = 2;
const fullEpisodes = 500_000;
const reducedEpisodes = 4_000;
/** Seeds a thread plays before it says how it went. */
const batchSeeds = 10;

interface Total {
  seeds: number;
  episodes: number;
  attempts: number;
  lives: number;
  events: number;
  simulatedHours: number;
  mostEvents: number;
  readonly struck: Map<string, number>;
  readonly failures: string[];
}

/** Ten thousand seeds belong to one seed of the row. */
export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const wanted = atScale(scale, fullEpisodes, reducedEpisodes);
  const total: Total = {
    seeds: 0,
    episodes: 0,
    attempts: 0,
    lives: 0,
    events: 0,
    simulatedHours: 0,
    mostEvents: 0,
    struck: new Map(),
    failures: [],
  };
  let next = 1 + (seed - 1) * 10_000;
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = new Worker(new URL('./simulation-worker.ts', import.meta.url));
      try {
        while (total.episodes < wanted && total.failures.length < 5) {
          signal.throwIfAborted();
          const from = next;
          next += batchSeeds;
          for (const answer of await ask(worker, from)) add(total, answer);
          if ((from - 1) % 500 < batchSeeds)
            log(`simulation: ${total.episodes} episodes, ${total.failures.length} failing seeds`);
        }
      } finally {
        await worker.terminate();
      }
    }),
  );
  const neverStruck = faultNames.filter((name) => countOf(name, total) === 0);
  for (const failure of total.failures) log(failure);
  return {
    name: 'simulation',
    figures: {
      episodes: total.episodes,
      attempts: total.attempts,
      seeds: total.seeds,
      'lives of the engine': total.lives,
      events: total.events,
      'faults that struck': [...total.struck.values()].reduce((sum, count) => sum + count, 0),
      'kinds of faults': faultNames.length - neverStruck.length,
      'simulated hours': Math.round(total.simulatedHours),
      'seeds that broke an invariant or did not replay': total.failures.length,
    },
    ok: total.failures.length === 0 && total.episodes >= wanted,
    details: { struck: Object.fromEntries(total.struck), neverStruck, failures: total.failures },
  };
}

/** Content faults show in what an episode ends with; they are had, not struck. */
function countOf(name: string, { struck }: Total): number {
  return struck.get(name) ?? 0;
}

function ask(worker: Worker, from: number): Promise<readonly SeedAnswer[]> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      worker.off('message', onMessage).off('error', onError);
      finish();
    };
    const onMessage = (answers: readonly SeedAnswer[]): void => settle(() => resolve(answers));
    const onError = (error: Error): void => settle(() => reject(error));
    worker.on('message', onMessage).on('error', onError);
    worker.postMessage({ from, count: batchSeeds });
  });
}

function add(total: Total, answer: SeedAnswer): void {
  total.seeds++;
  total.episodes += answer.episodes;
  total.attempts += answer.attempts;
  total.lives += answer.lives;
  total.events += answer.steps;
  total.mostEvents = Math.max(total.mostEvents, answer.steps);
  total.simulatedHours += answer.simulatedMs / 3_600_000;
  for (const [name, count] of answer.struck) total.struck.set(name, (total.struck.get(name) ?? 0) + count);
  if (answer.failure !== null)
    total.failures.push(`${answer.failure}\n  replay: node .ci/reliability/simulation.ts ${answer.seed}`);
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === import.meta.filename) {
  const seed = Number(process.argv[2]);
  if (!Number.isSafeInteger(seed)) {
    process.stderr.write('Give the seed to replay: node .ci/reliability/simulation.ts SEED\n');
    process.exit(2);
  }
  const lines: string[] = [];
  const { violations, faults, digest } = await simulateWorkspace(seed, {
    trace: (line) => void lines.push(line),
  });
  process.stdout.write(`${lines.join('\n')}\n\nfaults: ${faults.join(', ')}\ntrace ${digest}\n`);
  for (const violation of violations) process.stdout.write(`BROKEN: ${violation}\n`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
