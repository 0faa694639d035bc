// The states and phases in which an environment is made to hang, and the flag by which it says that it does.
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchWorkspace } from './bench-workspace.ts';

export const hangStates = ['idle', 'busy', 'native', 'stopped'] as const;
/** `restart`: the start of a replacement, after a death. */
export const hangPhases = ['start', 'restart', 'reset', 'step', 'close'] as const;
export type HangPhase = (typeof hangPhases)[number];
export type HangState = (typeof hangStates)[number];

export const startDeadlineMs = 4000;
export const callDeadlineMs = 2000;

export const hangConfig = {
  graph: 'hanging',
  episodes: 4,
  workerCount: 2,
  retry: { attempts: 3 },
};

export function hangSettings(): Readonly<Record<string, unknown>> {
  const sec = callDeadlineMs / 1000;
  return {
    python: pythonInterpreter(),
    deadlines: { reset_sec: sec, step_sec: sec, call_sec: sec, first_call_sec: sec, close_sec: sec },
  };
}

/** Empty where there is none. */
export function pythonInterpreter(): string {
  try {
    return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

export interface HangCase {
  readonly phase: HangPhase;
  readonly state: HangState;
  readonly grandchild?: 'group' | 'setsid';
}

export function hangEnvironment(
  { scratch }: BenchWorkspace,
  { phase, state, grandchild }: HangCase,
): { readonly flag: string; readonly environment: Readonly<Record<string, string>> } {
  const flag = path.join(scratch, 'flags', `${phase}-${state}-${grandchild ?? 'alone'}`);
  const environment = {
    HANG_PHASE: phase,
    HANG_STATE: state,
    HANG_FLAG: flag,
    HANG_GRANDCHILD: grandchild ?? '',
  };
  return { flag, environment };
}

export interface Hanging {
  readonly pids: readonly number[];
  /** Wall clock at which it began to hang. */
  readonly atMs: number;
}

/** Once a process says that it hangs now; undefined when none did in time. */
export async function whenHanging(flag: string, limitMs: number): Promise<Hanging | undefined> {
  const startMs = performance.now();
  while (performance.now() - startMs < limitMs) {
    const text = existsSync(flag) ? await readFile(flag, 'utf8') : '';
    if (text.endsWith('}')) {
      const { pids, at } = JSON.parse(text) as { pids: number[]; at: number };
      return { pids, atMs: at * 1000 };
    }
    await delay(10);
  }
  return undefined;
}
