// The actions of the Python benchmark: one table per environment, the same for every contender.
import { writeFileSync } from 'node:fs';

export interface Environment {
  readonly title: string;
  /** Registered by endless_environments.py. */
  readonly id: string;
  readonly packages: readonly string[];
  /** Least steps per second, in those of AsyncVectorEnv at N = 1 and above it, and in those of the FastAPI design. */
  readonly goals: { readonly asyncOfOne: number; readonly asyncOfMany: number; readonly fastApi: number };
  readonly action: { readonly discrete: number } | { readonly box: number };
  readonly checkSteps: number;
}

export const environments: readonly Environment[] = [
  {
    title: 'CartPole-v1',
    id: 'Endless/CartPole-v1',
    packages: ['gymnasium', 'numpy'],
    goals: { asyncOfOne: 1.7, asyncOfMany: 2.3, fastApi: 6 },
    action: { discrete: 2 },
    checkSteps: 300,
  },
  {
    title: 'HalfCheetah-v5',
    id: 'Endless/HalfCheetah-v5',
    packages: ['gymnasium', 'numpy', 'mujoco'],
    goals: { asyncOfOne: 1.7, asyncOfMany: 2.3, fastApi: 4 },
    action: { box: 6 },
    checkSteps: 1200,
  },
  {
    title: 'ALE/Breakout-v5',
    id: 'Endless/Breakout-v5',
    packages: ['gymnasium', 'numpy', 'ale_py'],
    goals: { asyncOfOne: 1.3, asyncOfMany: 1.3, fastApi: 3.5 },
    action: { discrete: 4 },
    checkSteps: 300,
  },
];

export interface ActionTable {
  readonly discrete: boolean;
  readonly dtype: string;
  /** slots[k][t]: the action of environment k at step t, repeated after the end. */
  readonly slots: readonly (readonly (number | readonly number[])[])[];
}

const length = 997;

export function writeActions(file: string, { action }: Environment, slotCount: number): ActionTable {
  const random = numbersFrom(20_261_130);
  const one = (): number | number[] =>
    'discrete' in action
      ? Math.floor(random() * action.discrete)
      : Array.from({ length: action.box }, () => Math.fround(random() * 2 - 1));
  const table: ActionTable = {
    discrete: 'discrete' in action,
    dtype: 'discrete' in action ? 'int64' : 'float32',
    slots: Array.from({ length: slotCount }, () => Array.from({ length }, one)),
  };
  writeFileSync(file, JSON.stringify(table));
  return table;
}

/** Mulberry32: the same on every machine. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
