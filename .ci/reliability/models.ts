// Row `models`: small models of the pool, the batch queue and the guard with its queue, all of whose interleavings are
// tried with the product's own code.
import { BatchModel } from '../../main/eval/testing/models/batch-model.ts';
import { explore, type Model } from '../../main/eval/testing/models/explore.ts';
import { GuardModel } from '../../main/eval/testing/models/guard-model.ts';
import { PoolModel, type PoolModelOptions } from '../../main/eval/testing/models/pool-model.ts';
import type { RowOptions, RowResult } from './row.ts';

interface NamedModel {
  readonly name: string;
  readonly create: () => Model;
  readonly isReduced: boolean;
}

const pool = (options: Partial<PoolModelOptions>) => (): Model =>
  new PoolModel({
    slots: 2,
    episodes: 3,
    attempts: 2,
    outcomes: [],
    canStop: false,
    canCancel: false,
    failures: 0,
    ...options,
  });

const batch = (flushPolicy: 'greedy' | 'rendezvous', maxBatch: number) => (): Model =>
  new BatchModel({
    policy: { flushPolicy, flushTimeoutMs: 50, maxBatch },
    callers: 3,
    samples: 1,
    faults: 2,
    canLeave: true,
    canClose: true,
  });

const models: readonly NamedModel[] = [
  { name: 'pool: verdicts and deadlines', create: pool({}), isReduced: true },
  { name: 'pool: typed errors', create: pool({ outcomes: ['error'] }), isReduced: false },
  { name: 'pool: deaths', create: pool({ outcomes: ['die'] }), isReduced: false },
  {
    name: 'pool: deaths and a stop',
    create: pool({ episodes: 2, outcomes: ['die'], canStop: true }),
    isReduced: false,
  },
  {
    name: 'pool: stop and cancel',
    create: pool({ canStop: true, canCancel: true }),
    isReduced: false,
  },
  { name: 'pool: a failing commit or start', create: pool({ failures: 1 }), isReduced: false },
  { name: 'batches: greedy', create: batch('greedy', 256), isReduced: false },
  { name: 'batches: greedy, two at most', create: batch('greedy', 2), isReduced: false },
  { name: 'batches: rendezvous', create: batch('rendezvous', 256), isReduced: false },
  { name: 'batches: rendezvous, two at most', create: batch('rendezvous', 2), isReduced: false },
  {
    name: 'guard and queue',
    create: () => new GuardModel({ runs: 2, canPlay: true, canUnqueue: true, failures: 1 }),
    isReduced: true,
  },
  {
    name: 'guard and queue: three runs',
    create: () => new GuardModel({ runs: 3, canPlay: true, canUnqueue: true, failures: 1 }),
    isReduced: false,
  },
];

export async function run({ scale, signal, log }: RowOptions): Promise<RowResult> {
  const figures: Record<string, number | string> = {};
  const violations: string[] = [];
  let [states, transitions] = [0, 0];
  let isComplete = true;
  for (const { name, create, isReduced } of models) {
    if (scale === 'reduced' && !isReduced) continue;
    const found = await explore(create, { signal });
    states += found.states;
    transitions += found.transitions;
    isComplete &&= found.isComplete;
    figures[name] = `${found.states} states`;
    violations.push(...found.violations.map((violation) => `${name}: ${violation}`));
    const extent = found.isComplete ? 'all of' : 'the first of';
    log(`${name}: ${extent} ${found.states} states, ${found.transitions} transitions, ${found.ends} ends`);
  }
  for (const violation of violations) log(violation);
  return {
    name: 'models',
    figures: { states, transitions, ...figures, 'invariant breaks': violations.length },
    ok: violations.length === 0 && isComplete,
    details: { violations },
  };
}
