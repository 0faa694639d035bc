// The same seeds carried out in every way: 1, 2 and 8 workers, batching on and off, both flush policies, and with a tenth
// of the first attempts dying. Every episode has the same result, and the same as an undisturbed one.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EvalConfigInput } from '../../main/contract/eval-config.ts';
import { createBenchWorkspace, outcomesOf, readJournal, type BenchWorkspace } from './bench-workspace.ts';
import { openStudio, type OpenedStudio } from './open-studio.ts';
import { atScale, Faults, type RowOptions, type RowResult } from './row.ts';

interface Way {
  readonly name: string;
  readonly config: Pick<EvalConfigInput, 'workerCount' | 'batching'>;
}

const greedy = { flushPolicy: 'greedy', flushTimeoutMs: 20 } as const;
const rendezvous = { flushPolicy: 'rendezvous', flushTimeoutMs: 20 } as const;

export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const episodes = atScale(scale, 100, 12);
  const workerCounts = atScale(scale, [1, 2, 8], [2]);
  const batching = { on: greedy, off: { ...greedy, maxBatch: 1 }, together: rendezvous } as const;
  const ways: Way[] = workerCounts.flatMap((workerCount) =>
    Object.entries(batching).map(([name, value]) => ({
      name: `${workerCount} workers, batching ${name}`,
      config: { workerCount, batching: value },
    })),
  );
  await using workspace = await createBenchWorkspace({ name: 'determinism' });
  await using bench = await openStudio(workspace);
  const faults = new Faults();
  let deaths = 0;
  let runs = 0;
  for (const graph of ['policy', 'plain']) {
    const base = { graph, episodes, seed, retry: { attempts: 2 }, selectors: { split: 'mortal' } };
    const { outcomes: expected } = await evaluate(bench, workspace, { config: base, isUndisturbed: true });
    for (const way of graph === 'plain' ? ways.filter(({ name }) => name.endsWith('on')) : ways) {
      signal.throwIfAborted();
      const config = { ...base, ...way.config };
      const found = await evaluate(bench, workspace, { config, isUndisturbed: false });
      runs++;
      deaths += found.deaths;
      const different = found.outcomes.filter((outcome, index) => outcome !== expected[index]);
      faults.check(
        found.outcomes.length === episodes && different.length === 0,
        () =>
          `${graph}, ${way.name}: ${different.length} of ${found.outcomes.length} differ, such as ${different[0]}`,
      );
      faults.check(found.deaths > 0, () => `${graph}, ${way.name}: nothing died`);
    }
    log(`${graph}: ${runs} runs so far`);
  }
  return {
    name: 'determinism',
    figures: {
      runs,
      'episodes in each': episodes,
      'first attempts that died': deaths,
      'ways with a different result': faults.count,
    },
    ok: faults.count === 0,
    details: faults.stories,
  };
}

/** Who died is remembered by flags; each run begins without, or with all of them and so without deaths. */
async function evaluate(
  bench: OpenedStudio,
  { folder, scratch }: BenchWorkspace,
  { config, isUndisturbed }: { config: EvalConfigInput & { episodes: number }; isUndisturbed: boolean },
): Promise<{ readonly outcomes: readonly string[]; readonly deaths: number }> {
  const flags = path.join(scratch, 'flags');
  await rm(flags, { recursive: true, force: true });
  await mkdir(flags);
  for (let index = 0; isUndisturbed && index < config.episodes; index++)
    await writeFile(path.join(flags, `died-${index}`), '');
  const { runId } = await bench.evaluate(config);
  const rows = await readJournal(folder, runId);
  return { outcomes: outcomesOf(rows), deaths: rows.filter(({ status }) => status === 'died').length };
}
