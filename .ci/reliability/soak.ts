// A hundred thousand episodes through the whole engine with two real replicas: no errors, and heap after collection,
// memory, descriptors and children are at the end what they were in the middle.
import { readdir } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { createBenchWorkspace } from './bench-workspace.ts';
import { livingWith } from './living.ts';
import { openStudio } from './open-studio.ts';
import { atScale, Faults, largest, type RowOptions, type RowResult } from './row.ts';

interface Sample {
  readonly episodes: number;
  readonly heapMb: number;
  /** As the system sees it; then with the pages given back that the heap holds empty, for later. */
  readonly rssMb: number;
  readonly heldMb: number;
  readonly childrenMb: number;
  readonly descriptors: number;
  readonly children: number;
}

export async function run({ scale, signal, log }: RowOptions): Promise<RowResult> {
  const episodes = atScale(scale, 100_000, 1000);
  const samples: Sample[] = [];
  const faults = new Faults();
  await using workspace = await createBenchWorkspace({ name: 'soak' });
  await using bench = await openStudio(workspace);
  const config = {
    graph: 'plain',
    selectors: { split: 'brisk' },
    episodes,
    workerCount: 2,
    recording: 'none',
  } as const;
  // A first run fills caches, so that children and descriptors begin as they stay.
  await bench.evaluate({ ...config, episodes: 50 });
  const { runId } = await bench.ask('runs.start', { config });
  const ended = bench.whenEnded(runId);
  let finished = false;
  void ended.then(() => (finished = true));
  const every = Math.floor(episodes / 21);
  while (!finished) {
    signal.throwIfAborted();
    // No race with `ended`: each would leave a reaction on it, and be measured as growth.
    await setTimeout(100);
    const live = await bench.ask('runs.live', { runId });
    if (!live || live.status !== 'running') continue;
    const { planned, notRun } = live.summary.counts;
    const done = planned - notRun;
    // At the very end the replicas are going already.
    if (done < (samples.length + 1) * every || done >= episodes - 20) continue;
    const pids = live.workers.flatMap((worker) => worker.pids);
    const rssBytes = live.workers.reduce((sum, worker) => sum + (worker.rssBytes ?? 0), 0);
    samples.push(await take(done, { pids, rssBytes, mark: workspace.mark }));
    log(JSON.stringify(samples.at(-1)));
  }
  const status = await ended;
  const { summary } = await bench.ask('runs.get', { runId });
  faults.check(status === 'completed', () => `the run ended ${status}`);
  faults.check(summary.counts.completed === episodes, () => JSON.stringify(summary.counts));
  return report(samples, { episodes, faults });
}

async function take(
  episodes: number,
  { rssBytes, mark }: { pids: readonly number[]; rssBytes: number; mark: string },
): Promise<Sample> {
  const rss = process.memoryUsage.rss();
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { heapUsed, rss: held } = process.memoryUsage();
  return {
    episodes,
    heapMb: round(heapUsed / 1e6),
    rssMb: round(rss / 1e6),
    heldMb: round(held / 1e6),
    childrenMb: round(rssBytes / 1e6),
    descriptors: (await readdir('/proc/self/fd')).length,
    children: (await livingWith(mark)).length,
  };
}

function report(
  samples: readonly Sample[],
  { episodes, faults }: { episodes: number; faults: Faults },
): RowResult {
  const half = samples.slice(Math.floor(samples.length / 2));
  const [middle, last] = [half[0], half.at(-1)];
  const growth = (of: (sample: Sample) => number): number =>
    middle && last ? round(slope(half, of) * (last.episodes - middle.episodes)) : Number.NaN;
  const spread = (of: (sample: Sample) => number): number =>
    largest(half.map(of)) - Math.min(...half.map(of));
  const heapMb = growth(({ heapMb: value }) => value);
  const heldMb = growth(({ heldMb: value }) => value);
  const replicasMb = growth(({ childrenMb: value }) => value);
  // A short run is all warming up: only what must not vary at all is judged then.
  const isLong = episodes >= 20_000;
  // From one collection to the next it varies by half a megabyte.
  if (globalThis.gc && isLong)
    faults.check(heapMb <= 1, () => `the heap grew by ${heapMb} MB in the second half`);
  faults.check(!isLong || heldMb <= 10, () => `memory grew by ${heldMb} MB in the second half`);
  // Nobody asks them to collect: up to 6 MB of garbage each come and go.
  faults.check(!isLong || replicasMb <= 20, () => `the replicas grew by ${replicasMb} MB`);
  const descriptors = spread((sample) => sample.descriptors);
  const children = spread((sample) => sample.children);
  faults.check(descriptors <= 2, () => `descriptors vary by ${descriptors}`);
  faults.check(children === 0, () => `children vary by ${children}`);
  return {
    name: 'soak',
    figures: {
      episodes,
      'heap after collection, second half, MB more': heapMb,
      'memory of the engine after collection, second half, MB more': heldMb,
      'and before, with empty pages of the heap': growth(({ rssMb }) => rssMb),
      'memory of both replicas, not collected, second half, MB more': replicasMb,
      'heap at the end MB': last?.heapMb ?? Number.NaN,
      'descriptors, second half, from most to least': descriptors,
      'children, second half, from most to least': children,
      'errors or growth': faults.count,
    },
    ok: faults.count === 0,
    details: { faults: faults.stories, samples },
  };
}

/** Least squares, in MB per episode. */
function slope(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const mean = (value: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + value(sample), 0) / samples.length;
  const [meanEpisodes, meanValue] = [mean(({ episodes }) => episodes), mean(of)];
  const covariance = mean((sample) => (sample.episodes - meanEpisodes) * (of(sample) - meanValue));
  return covariance / mean(({ episodes }) => (episodes - meanEpisodes) ** 2);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
