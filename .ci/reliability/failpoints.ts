// Row `failpoints`: every named point along an episode's life, each with a kill of the engine, a thrown error and a hang,
// early and late in the run; then everything is completed and what is on the disk is audited.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { failpointActions, failpointNames, type FailpointName } from '../../main/eval/testing/failpoints.ts';
import type { HistoryAnswer, HistoryOrder } from './failpoints-worker.ts';
import { atScale, Faults, type RowOptions, type RowResult } from './row.ts';

const threads = 2;
const passes = [1, 2, 5] as const;
/** Struck by nothing: what it passes, every history passes until its point strikes. */
const never = { name: 'run.folder', action: 'throw', nth: Number.POSITIVE_INFINITY } as const;

interface Total {
  readonly faults: Faults;
  readonly struck: Set<string>;
  histories: number;
  episodes: number;
  lives: number;
}

export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const nths = atScale<readonly number[]>(scale, passes, [1]);
  const seeds = Array.from({ length: atScale(scale, 5, 1) }, (_item, history) => seed * 100 + 3 * history);
  const total: Total = { faults: new Faults(), struck: new Set(), histories: 0, episodes: 0, lives: 0 };
  const scout = new Player();
  const players = [scout, ...Array.from({ length: threads - 1 }, () => new Player())];
  try {
    const orders: HistoryOrder[] = [];
    for (const each of seeds) {
      const { hits } = await scout.play({ seed: each, armed: never });
      orders.push(...ordersOf(each, hits, nths));
    }
    log(`${orders.length} histories`);
    await Promise.all(
      players.map(async (player) => {
        for (let order = orders.pop(); order; order = orders.pop()) {
          signal.throwIfAborted();
          add(total, order, await player.play(order));
          if (total.histories % 200 === 0) log(`${total.histories} played, ${total.faults.count} faults`);
        }
      }),
    );
  } finally {
    await Promise.all(players.map((player) => player[Symbol.asyncDispose]()));
  }
  return report(total, log);
}

/** Points that the history does not pass so often would leave it as it is. */
function ordersOf(
  seed: number,
  hits: ReadonlyMap<FailpointName, number>,
  nths: readonly number[],
): HistoryOrder[] {
  return failpointNames.flatMap((name) =>
    failpointActions.flatMap((action) =>
      nths.flatMap((nth) => ((hits.get(name) ?? 0) < nth ? [] : [{ seed, armed: { name, action, nth } }])),
    ),
  );
}

function add(total: Total, { seed, armed }: HistoryOrder, answer: HistoryAnswer): void {
  const { name, action, nth } = armed;
  total.histories++;
  total.episodes += answer.episodes;
  total.lives += answer.lives;
  if (answer.hasStruck) total.struck.add(`${name} ${action}`);
  else total.faults.add(`${name} ${action} at pass ${nth}, seed ${seed}: it was not passed`);
  for (const violation of answer.violations)
    total.faults.add(`${name} ${action} at pass ${nth}, seed ${seed}: ${violation}`);
}

function report({ faults, struck, histories, episodes, lives }: Total, log: RowOptions['log']): RowResult {
  const wanted = failpointNames.length * failpointActions.length;
  for (const name of failpointNames)
    for (const action of failpointActions)
      faults.check(struck.has(`${name} ${action}`), () => `${name} never struck with a ${action}`);
  for (const story of faults.stories) log(story);
  return {
    name: 'failpoints',
    figures: {
      points: failpointNames.length,
      'points x actions that struck': `${struck.size} of ${wanted}`,
      histories,
      episodes,
      'lives of the engine': lives,
      'lost, doubled, stuck or wrong': faults.count,
    },
    ok: faults.count === 0,
    details: { stories: faults.stories },
  };
}

class Player implements AsyncDisposable {
  readonly #worker = new Worker(new URL('./failpoints-worker.ts', import.meta.url));

  async play(order: HistoryOrder): Promise<HistoryAnswer> {
    const answered = once(this.#worker, 'message') as Promise<[HistoryAnswer]>;
    this.#worker.postMessage(order);
    return (await answered)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
