// Figures of the store: durable appends, opening, listing, paging, rebuilding, exporting, summarising. Run with
// `node main/store/store.bench.ts [episodes] [runs]`; prints a table and decides nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MetricDefinition } from '../contract/nodeset.ts';
import { createBulkThread } from './bulk-thread.ts';
import type { RunStore } from './ports.ts';
import { openSampleStore, rowOf, samplePlan, sampleRecord } from './testing/sample-store.ts';

const episodes = Number(process.argv[2] ?? 100_000);
const runs = Number(process.argv[3] ?? 5000);
const names = [
  'success',
  'spl',
  'ndtw',
  'sdtw',
  'oracle_success',
  'distance_to_goal',
  'path_length',
  'collisions',
];
const metrics: MetricDefinition[] = names.map((name) => ({
  name,
  unit: '',
  kind: name.includes('success') ? 'rate' : 'mean',
  higherIsBetter: true,
  worst: 0,
}));

const results: { what: string; figure: string }[] = [];

async function measure<T>(what: string, work: () => Promise<T>, perUnit = 0): Promise<T> {
  let longestMs = 0;
  let last = performance.now();
  const ticker = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last - 1);
    last = performance.now();
  }, 1);
  const cpu = process.cpuUsage();
  const started = performance.now();
  const result = await work();
  const tookMs = performance.now() - started;
  const used = process.cpuUsage(cpu);
  const cpuMs = (used.user + used.system) / 1000;
  longestMs = Math.max(longestMs, performance.now() - last - 1);
  clearInterval(ticker);
  const each =
    perUnit > 0
      ? `, each ${((tookMs * 1000) / perUnit).toFixed(1)} us and ${((cpuMs * 1000) / perUnit).toFixed(1)} us of CPU`
      : '';
  results.push({
    what,
    figure: `${tookMs.toFixed(1)} ms (CPU ${cpuMs.toFixed(1)} ms${each}); longest task ${longestMs.toFixed(1)} ms`,
  });
  return result;
}

function metricsOf(ordinal: number): Record<string, number> {
  return Object.fromEntries(
    names.map((name, i) => [
      name,
      name.includes('success') ? ordinal % 2 : ((ordinal * 7919 + i) % 1000) / 1000,
    ]),
  );
}

async function appendAll(store: RunStore, runId: string, writers: number): Promise<void> {
  await using run = await store.open(runId);
  const queue = [...run.missing()].reverse();
  const instruction =
    'Leave the bedroom, walk past the table and stop beside the blue sofa in the living room.';
  await Promise.all(
    Array.from({ length: writers }, async () => {
      for (let planned = queue.pop(); planned; planned = queue.pop()) {
        await run.append(
          rowOf(planned, { metrics: metricsOf(planned.ordinal), instruction, steps: planned.ordinal % 500 }),
        );
      }
    }),
  );
}

const folder = await mkdtemp(join(tmpdir(), 'store-bench-'));
try {
  await using store = await openSampleStore(folder, { bulk: createBulkThread() });
  const create = async (runId: string, count: number): Promise<void> => {
    await using _run = await store.create({
      record: sampleRecord({ runId, metrics, plan: samplePlan(count) }),
      graphText: '{}',
    });
  };
  await create('one-writer', 500);
  await measure('500 durable appends, one writer', () => appendAll(store, 'one-writer', 1), 500);
  await create('eight-writers', 2000);
  await measure('2,000 durable appends, 8 writers', () => appendAll(store, 'eight-writers', 8), 2000);
  await measure(`create a run of ${episodes} episodes`, () => create('large', episodes));
  await measure(
    `${episodes} durable appends, 2,000 writers`,
    () => appendAll(store, 'large', 2000),
    episodes,
  );
  const page = (what: string, query: Parameters<RunStore['listEpisodes']>[1]) =>
    measure(`${what}, of ${episodes}`, () => store.listEpisodes('large', query));
  await page('first page', {});
  await page('last page', { offset: episodes - 100 });
  await page('page sorted by a metric', { sort: [{ column: 'spl', descending: true }] });
  await page('page sorted by two columns', {
    sort: [{ column: 'success' }, { column: 'steps', descending: true }],
    offset: 5000,
  });
  await page('page filtered by an expression', { expression: 'success == 0 && steps_taken > 400' });
  await measure('open it for writing', async () => (await store.open('large'))[Symbol.asyncDispose]());
  await measure('finish it (worker thread)', async () => {
    await using run = await store.open('large');
    await run.finish('completed');
  });
  await measure('summary of it, stored', () => store.readSummary('large'));
  for (const format of ['csv', 'jsonl', 'json'] as const) {
    await measure(`export it as ${format}`, async () => {
      let bytes = 0;
      for await (const part of store.export({ runId: 'large', format })) bytes += part.length;
      return bytes;
    });
  }
  await measure('compare it with itself, one metric (worker thread)', async () => {
    await using bulk = createBulkThread();
    await bulk.run('compare', {
      baselineFolder: store.folderOf('large'),
      otherFolders: [store.folderOf('large')],
      metricNames: ['success'],
    });
  });
  await measure(`create ${runs} runs of 10 episodes`, async () => {
    for (let i = 0; i < runs; i++) await create(`run-${i}`, 10);
  });
  await measure(`list 100 of ${runs} runs`, () => store.list());
  await measure(`search in ${runs} runs`, () =>
    store.list({ search: 'run 49', sort: [{ column: 'headline' }] }),
  );
  await measure('refresh the index, nothing changed', () => store.refreshIndex());
  await measure('rebuild the index', () => store.rebuildIndex());
} finally {
  await rm(folder, { recursive: true, force: true });
}
const width = Math.max(...results.map(({ what }) => what.length));
process.stdout.write(results.map(({ what, figure }) => `${what.padEnd(width)}  ${figure}\n`).join(''));
