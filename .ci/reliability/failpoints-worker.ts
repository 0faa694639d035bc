// Plays scripted histories in a thread of its own, one failpoint armed in each.
import { parentPort } from 'node:worker_threads';
import type { Armed, FailpointName } from '../../main/eval/testing/failpoints.ts';
import { simulateWorkspace } from '../../main/eval/testing/simulation/workspace-world.ts';

export interface HistoryOrder {
  readonly seed: number;
  readonly armed: Armed;
}

export interface HistoryAnswer {
  readonly episodes: number;
  readonly lives: number;
  readonly hasStruck: boolean;
  /** How often each point was passed. */
  readonly hits: ReadonlyMap<FailpointName, number>;
  readonly violations: readonly string[];
}

parentPort?.on('message', (order: HistoryOrder) => void answer(order));

async function answer({ seed, armed }: HistoryOrder): Promise<void> {
  const { episodes, lives, failpoints, violations } = await simulateWorkspace(seed, { failpoint: armed });
  const { hasStruck, hits } = failpoints;
  parentPort?.postMessage({ episodes, lives, hasStruck, hits, violations } satisfies HistoryAnswer);
}
