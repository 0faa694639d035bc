// Shared by the benchmarks: contenders take turns in short windows of one process, so that all see the same machine;
// figures are medians over rounds. Rounds in which others used the machine are dropped, and too few of them is "noisy".
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');

export interface Contender {
  readonly name: string;
  /** Works for about this long; resolves with the steps done. */
  readonly work: (windowMs: number) => Promise<number>;
  /** Processes besides this one whose CPU time counts. */
  readonly pids?: () => readonly number[];
}

export interface Measured {
  readonly name: string;
  /** Median and best of steps per second. */
  readonly rate: number;
  readonly best: number;
  /** Median CPU microseconds per step over all processes of the contender. */
  readonly cpuUs: number;
  readonly rounds: number;
  /** Steps per second of each kept round. */
  readonly rates: readonly number[];
  /** Every round in order; undefined where others used the machine. */
  readonly samples: readonly (Sample | undefined)[];
  /** Median share of the machine that others used, over all rounds. */
  readonly foreignShare: number;
}

export interface Sample {
  readonly rate: number;
  readonly cpuUs: number;
}

const defaultForeignShareLimit = 0.15;

export async function takeTurns(
  contenders: readonly Contender[],
  { rounds = 9, windowMs = 400, foreignShareLimit = defaultForeignShareLimit } = {},
): Promise<Measured[]> {
  const windows = new Map<string, (Sample & { foreignShare: number })[]>(
    contenders.map(({ name }) => [name, []]),
  );
  for (const contender of contenders) await contender.work(windowMs / 2);
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders)
      windows.get(contender.name)?.push(await oneWindow(contender, windowMs));
  }
  return contenders.map(({ name }) => {
    const all = windows.get(name) ?? [];
    const samples = all.map((sample) => (sample.foreignShare <= foreignShareLimit ? sample : undefined));
    const kept = samples.filter((sample) => sample !== undefined);
    const rates = kept.map((sample) => sample.rate);
    return {
      name,
      rate: median(rates),
      best: Math.max(...rates),
      cpuUs: median(kept.map((sample) => sample.cpuUs)),
      rounds: kept.length,
      rates,
      samples,
      foreignShare: median(all.map((sample) => sample.foreignShare)),
    };
  });
}

/** Median over the rounds in which both had the machine to themselves; NaN without any. */
export function medianOfRounds(
  [one, other]: readonly [Measured, Measured],
  compare: (one: Sample, other: Sample) => number,
): number {
  return median(
    one.samples.flatMap((sample, round) => {
      const opposite = other.samples[round];
      return sample && opposite ? [compare(sample, opposite)] : [];
    }),
  );
}

async function oneWindow(
  { work, pids = () => [] }: Contender,
  windowMs: number,
): Promise<{ rate: number; cpuUs: number; foreignShare: number }> {
  const before = {
    cpu: cpuSeconds([process.pid, ...pids()]),
    machine: machineSeconds(),
    atMs: performance.now(),
  };
  const steps = await work(windowMs);
  const seconds = (performance.now() - before.atMs) / 1000;
  const own = cpuSeconds([process.pid, ...pids()]) - before.cpu;
  const all = machineSeconds() - before.machine;
  const foreignShare = Math.max(0, all - own) / (seconds * os.availableParallelism());
  return { rate: steps / seconds, cpuUs: (own * 1e6) / steps, foreignShare };
}

/** User and system time of processes, from /proc (100 ticks a second); other systems know this process only. */
function cpuSeconds(pids: readonly number[]): number {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}

function machineSeconds(): number {
  return os
    .cpus()
    .reduce((sum, { times }) => sum + (times.user + times.nice + times.sys + times.irq) / 1000, 0);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** Five kept rounds make a verdict. */
export function verdict(measured: readonly Measured[], holds: boolean): string {
  if (measured.some(({ rounds }) => rounds < 5)) return 'noisy';
  return holds ? 'met' : 'not met';
}

export function saveResult(name: string, result: object): void {
  mkdirSync(path.join(root, 'bench-results'), { recursive: true });
  const machine = {
    cpu: os.cpus()[0]?.model ?? '',
    cores: os.availableParallelism(),
    node: process.versions.node,
    date: new Date().toISOString(),
  };
  writeFileSync(
    path.join(root, 'bench-results', `${name}.json`),
    `${JSON.stringify({ machine, ...result }, null, 2)}\n`,
  );
}
