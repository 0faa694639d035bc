// Plays seeds in a thread of its own, each twice: the second time must be the same history.
import { parentPort } from 'node:worker_threads';
import { simulateWorkspace, type WorldReport } from '../../main/eval/testing/simulation/workspace-world.ts';

export interface SeedAnswer extends Pick<
  WorldReport,
  'seed' | 'episodes' | 'attempts' | 'lives' | 'steps' | 'simulatedMs' | 'struck'
> {
  /** What broke, or null. */
  readonly failure: string | null;
}

parentPort?.on('message', (order: { readonly from: number; readonly count: number }) => void answer(order));

async function answer({ from, count }: { readonly from: number; readonly count: number }): Promise<void> {
  const answers: SeedAnswer[] = [];
  for (let seed = from; seed < from + count; seed++) answers.push(await play(seed));
  parentPort?.postMessage(answers);
}

async function play(seed: number): Promise<SeedAnswer> {
  const first = await simulateWorkspace(seed);
  const second = await simulateWorkspace(seed);
  const { episodes, attempts, lives, steps, simulatedMs, struck } = first;
  return { seed, episodes, attempts, lives, steps, simulatedMs, struck, failure: failureOf(first, second) };
}

function failureOf(first: WorldReport, second: WorldReport): string | null {
  const [violation] = first.violations;
  if (violation !== undefined) return `seed ${first.seed}: ${violation}`;
  if (first.digest === second.digest && first.steps === second.steps) return null;
  return `seed ${first.seed}: two plays differ (${first.steps} and ${second.steps} events)`;
}
