// The index: equal to what the folders say however it came about, filters and sorts as plain JavaScript would, and
// rebuilt when damaged.
import { createRandom } from '../base/random.ts';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { StudioError } from '../base/errors.ts';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import type { EpisodeOutcome, EpisodeRow, MetricValue } from '../contract/run.ts';
import { createBulkThread } from './bulk-thread.ts';
import type { BulkWork } from './bulk-work.ts';
import { parseFilter } from './filter-expression.ts';
import type { EpisodeQuery, RunStore } from './ports.ts';
import {
  openSampleStore,
  rowOf,
  samplePlan,
  sampleRecord,
  storeOptions,
  temporaryFolder,
} from './testing/sample-store.ts';

const graphText = '{}';
const runId = sampleRecord().runId;
const outcomes: readonly EpisodeOutcome[] = [
  'completed',
  'completed',
  'error',
  'timeout',
  'died',
  'no_verdict',
];
const values: readonly MetricValue[] = [0, 1, 0.5, -2, null, 'nan', 'inf', '-inf'];

/** Runs with retries, failures, odd values and unfinished plans. */
async function fill(store: RunStore, runs: number, seed: number): Promise<void> {
  const random = createRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[random.integer(items.length)] as T;
  for (let number = 0; number < runs; number++) {
    const record = sampleRecord({
      runId: `run-${number}`,
      name: `run ${number}`,
      plan: samplePlan(20, 1 + (number % 2)),
    });
    await using run = await store.create({ record, graphText });
    await run.update({ status: 'running', tags: number % 2 ? ['odd', 'x'] : [] });
    const chosen = run.missing().filter(() => random.next() < 0.8);
    await Promise.all(
      chosen.map(async (planned) => {
        const attempts = 1 + random.integer(3);
        for (let attempt = 1; attempt <= attempts; attempt++) {
          const status = attempt < attempts ? pick(['died', 'timeout'] as const) : pick(outcomes);
          const failed =
            status === 'completed'
              ? null
              : { code: 'timeout' as const, message: `no ${attempt}`, scope: {}, details: {} };
          const metrics =
            status === 'completed' ? { success: pick(values), spl: pick(values), rare: pick(values) } : {};
          const final = attempt === attempts;
          await run.append(
            rowOf(planned, {
              attempt,
              final,
              status,
              metrics,
              error: failed,
              steps: random.integer(500),
              instruction: `go to room ${random.integer(9)}`,
            }),
          );
        }
      }),
    );
    if (number % 3 === 0) await run.finish('completed_with_errors');
    if (number % 3 === 1) await run.finish('cancelled');
  }
}

async function everything(store: RunStore): Promise<unknown> {
  const runs = await store.list({ limit: 1000 });
  const episodes = [];
  for (const { runId: id } of runs.items) episodes.push(await store.listEpisodes(id, { limit: 1000 }));
  return { runs, episodes };
}

describe('index', () => {
  it('holds the same after appends, after a rebuild, and in a fresh store without its file', async () => {
    await using folder = await temporaryFolder();
    let grown: unknown;
    {
      await using store = await openSampleStore(folder.path);
      await fill(store, 5, 1);
      grown = await everything(store);
      expect(await store.rebuildIndex()).toMatchObject({
        runs: 5,
        episodes: 140,
        unreadable: [],
        rebuiltBecause: 'it was asked for',
      });
      expect(await everything(store)).toEqual(grown);
    }
    await rm(storeOptions(folder.path).indexPath);
    await using store = await openSampleStore(folder.path);
    expect(await everything(store)).toEqual(grown);
  });

  it('builds an index of an older version anew, with when each episode began', async () => {
    await using folder = await temporaryFolder();
    let expected: unknown;
    {
      await using store = await openSampleStore(folder.path);
      await fill(store, 2, 2);
      expected = await everything(store);
    }
    expect(JSON.stringify(expected)).toMatch(/"startedAt":"20/);
    {
      using older = new DatabaseSync(storeOptions(folder.path).indexPath);
      older.exec('ALTER TABLE episodes DROP COLUMN started_at; PRAGMA user_version = 2;');
    }
    await using store = await openSampleStore(folder.path);
    expect(await everything(store)).toEqual(expected);
  });

  it('notices what changed while nobody looked: new, changed and vanished folders', async () => {
    await using folder = await temporaryFolder();
    {
      await using store = await openSampleStore(folder.path);
      await fill(store, 3, 2);
    }
    const { runsFolder, indexPath } = storeOptions(folder.path);
    const index = await readFile(indexPath);
    let expected: unknown;
    {
      await using store = await openSampleStore(folder.path);
      await using run = await store.open('run-2');
      for (const planned of run.missing())
        await run.append(rowOf(planned, { attempt: run.recordedAttempts(planned.ordinal) + 1 }));
      await run.update({ note: 'changed' });
      await rm(`${runsFolder}/run-1`, { recursive: true });
      await fill(store, 1, 3).catch(() => undefined);
      await store.rebuildIndex();
      expected = await everything(store);
    }
    await writeFile(indexPath, index);
    await using store = await openSampleStore(folder.path);
    expect(await everything(store)).toEqual(expected);
  });

  it('stays right when it is rebuilt while rows come in', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord({ plan: samplePlan(600) }), graphText });
    const appended = Promise.all(run.missing().map((planned) => run.append(rowOf(planned))));
    await Promise.all([store.rebuildIndex(), appended, store.rebuildIndex()]);
    const listed = await everything(store);
    await store.rebuildIndex();
    expect(await everything(store)).toEqual(listed);
    expect((await store.list()).items[0]?.counts.completed).toBe(600);
  });

  it(
    'reads a run of many episodes in the bulk thread, also while rows come in',
    { timeout: 60_000 },
    async () => {
      await using folder = await temporaryFolder();
      const thread = createBulkThread();
      const handedOver: string[] = [];
      const bulk: BulkWork = {
        run(name, input, signal) {
          handedOver.push(name);
          return thread.run(name, input, signal);
        },
        [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
      };
      await using store = await openSampleStore(folder.path, { bulk });
      const large = sampleRecord({ runId: 'large', plan: samplePlan(12_000) });
      const run = await store.create({ record: large, graphText });
      const small = await store.create({ record: sampleRecord({ plan: samplePlan(20) }), graphText });
      for (const planned of run.missing().slice(0, 50)) await run.append(rowOf(planned));
      const appended = [run, small].map((handle) =>
        Promise.all(
          handle
            .missing()
            .slice(-20)
            .map((planned) => handle.append(rowOf(planned))),
        ),
      );
      await Promise.all([store.rebuildIndex(), ...appended]);
      expect(handedOver.filter((name) => name === 'indexRun')).not.toHaveLength(0);
      const listed = await everything(store);
      expect((await store.list({ search: 'large' })).items[0]?.counts.completed).toBe(70);
      await store.rebuildIndex();
      expect(await everything(store)).toEqual(listed);
    },
  );

  it('has the rows that a killed engine wrote and did not index, also when the run is opened first', async () => {
    await using folder = await temporaryFolder();
    const { indexPath } = storeOptions(folder.path);
    const record = sampleRecord({ plan: samplePlan(6) });
    {
      await using store = await openSampleStore(folder.path);
      await using run = await store.create({ record, graphText });
      await run.update({ status: 'running' });
      for (const planned of run.missing().slice(0, 3)) await run.append(rowOf(planned));
    }
    const before = await readFile(indexPath);
    {
      await using store = await openSampleStore(folder.path);
      await using run = await store.open(runId);
      for (const planned of run.missing().slice(0, 2)) await run.append(rowOf(planned));
    }
    // The index of a moment ago: what the engine had not written when it was killed.
    await writeFile(indexPath, before);
    for (const file of ['-wal', '-shm']) await rm(indexPath + file, { force: true });
    await using store = await openSampleStore(folder.path);
    await store.recover();
    await using run = await store.open(runId);
    for (const planned of run.missing()) await run.append(rowOf(planned));
    expect((await store.listEpisodes(runId)).items.map(({ status }) => status)).toEqual(
      Array.from({ length: 6 }, () => 'completed'),
    );
  });

  it('lacks no row after a write of it failed, in this process and in the next', async () => {
    await using folder = await temporaryFolder();
    const record = sampleRecord({ plan: samplePlan(4) });
    {
      await using store = await openSampleStore(folder.path);
      await using run = await store.create({ record, graphText });
      const [first, second, ...rest] = run.missing();
      if (!first || !second) throw new Error('no plan');
      await run.append(rowOf(first));
      const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementationOnce(() => {
        throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
      });
      await run.append(rowOf(second));
      exec.mockRestore();
      for (const planned of rest) await run.append(rowOf(planned));
    }
    await using store = await openSampleStore(folder.path);
    expect(
      (await store.listEpisodes(runId)).items.filter(({ status }) => status === 'completed'),
    ).toHaveLength(4);
  });

  it('is rebuilt with a reason when its file is damaged, wherever', { timeout: 60_000 }, async () => {
    await using folder = await temporaryFolder();
    let expected: unknown;
    {
      await using store = await openSampleStore(folder.path);
      await fill(store, 2, 4);
      expected = await everything(store);
    }
    const { indexPath } = storeOptions(folder.path);
    const random = createRandom(5);
    const { size } = await stat(indexPath);
    let rebuilt = 0;
    for (let round = 0; round < 25; round++) {
      const bytes = await readFile(indexPath);
      const at = round === 0 ? 0 : random.integer(size - 4096);
      await writeFile(indexPath, round === 1 ? bytes.subarray(0, at) : bytes.fill(0xa5, at, at + 4096));
      await using store = await openSampleStore(folder.path);
      if ((await store.refreshIndex()).rebuiltBecause !== null) rebuilt++;
      expect(await everything(store)).toEqual(expected);
    }
    expect(rebuilt).toBeGreaterThan(2);
  });
});

describe('episode queries', () => {
  const nullable = (value: MetricValue | undefined): number | null =>
    value === 'inf' ? Infinity : value === '-inf' ? -Infinity : typeof value === 'number' ? value : null;
  const success = (row: EpisodeRow): number | null => nullable(row.metrics['success']);
  const spl = (row: EpisodeRow): number | null => nullable(row.metrics['spl']);
  const cases: [string, (row: EpisodeRow) => boolean][] = [
    ['success == 0 && steps_taken > 250', (row) => success(row) === 0 && (row.steps ?? -1) > 250],
    ['success != 0', (row) => success(row) !== null && success(row) !== 0],
    ['!(success == 0)', (row) => success(row) !== 0],
    ['spl == null || spl >= inf', (row) => spl(row) === null || spl(row) === Infinity],
    ['metrics.spl <= -1.5e0 && spl != null', (row) => spl(row) !== null && (spl(row) ?? 0) <= -1.5],
    [
      'status == died || (status == "timeout" && attempts > 1)',
      (row) => row.status === 'died' || (row.status === 'timeout' && row.attempts > 1),
    ],
    ['retried && durationMs > 0', (row) => row.retried && (row.durationMs ?? 0) > 0],
    ["instruction ~ 'ROOM 3'", (row) => row.instruction?.includes('room 3') ?? false],
    ['retried == false && episode_id == "e4"', (row) => !row.retried && row.episodeId === 'e4'],
    ['', () => true],
  ];

  it('select what the same condition selects in JavaScript', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    await fill(store, 4, 6);
    for (const id of ['run-0', 'run-1', 'run-2', 'run-3']) {
      const all = (await store.listEpisodes(id, { limit: 1000 })).items;
      for (const [expression, condition] of cases) {
        const found = await store.listEpisodes(id, { expression, limit: 1000 });
        expect({ expression, items: found.items }).toEqual({ expression, items: all.filter(condition) });
        expect(found.total).toBe(found.items.length);
      }
    }
  });

  it('sort with unmeasured values last, by several columns, and page without gaps', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    await fill(store, 1, 7);
    const sort = [{ column: 'spl', descending: true }, { column: 'steps' }];
    const whole = await store.listEpisodes('run-0', { sort, limit: 1000 });
    const order = whole.items.map((row) => spl(row));
    const measured = order.filter((value) => value !== null);
    expect(order).toEqual([
      ...measured.toSorted((a, b) => (a === b ? 0 : b - a)),
      ...order.slice(measured.length),
    ]);
    expect(order.slice(measured.length).every((value) => value === null)).toBe(true);
    const paged: EpisodeRow[] = [];
    for (let offset = 0; offset < whole.total; offset += 7) {
      paged.push(...(await store.listEpisodes('run-0', { sort, offset, limit: 7 })).items);
    }
    expect(paged).toEqual(whole.items);
  });

  it('take typed filters and refuse columns that do not exist', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    await fill(store, 1, 8);
    const count = async (query: EpisodeQuery): Promise<number> =>
      (await store.listEpisodes('run-0', query)).total;
    const all = (await store.listEpisodes('run-0', { limit: 100 })).items;
    expect(await count({ filters: [{ column: 'status', in: ['pending', 'died'] }] })).toBe(
      all.filter(({ status }) => ['pending', 'died'].includes(status)).length,
    );
    expect(await count({ filters: [{ column: 'steps', min: 100, max: 200 }] })).toBe(
      all.filter(({ steps }) => steps !== null && steps >= 100 && steps <= 200).length,
    );
    expect(await count({ filters: [{ column: 'spl', isNull: true }] })).toBe(
      all.filter((row) => spl(row) === null).length,
    );
    expect(await count({ filters: [{ column: 'instruction', contains: 'room 1' }] })).toBe(
      all.filter(({ instruction }) => instruction?.includes('room 1')).length,
    );
    expect(await count({ filters: [{ column: 'status', in: [] }] })).toBe(0);
    await expect(
      store.listEpisodes('run-0', { sort: [{ column: 'e.key; DROP TABLE runs' }] }),
    ).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(store.listEpisodes(runId)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('keep metrics beyond the dense columns sortable and filterable', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const names = Array.from({ length: 30 }, (_, i) => `metric_${i}`);
    const definition = sampleRecord().metrics[1];
    const metrics = names.map((name) => ({ ...definition!, name }));
    await using run = await store.create({
      record: sampleRecord({ metrics, plan: samplePlan(5) }),
      graphText,
    });
    for (const planned of run.missing()) {
      await run.append(
        rowOf(planned, { metrics: { metric_29: planned.ordinal === 2 ? 'inf' : 10 - planned.ordinal } }),
      );
    }
    const found = await store.listEpisodes(runId, {
      expression: 'metric_29 > 7',
      sort: [{ column: 'metric_29' }],
    });
    // Values 10, 9, infinity, 7, 6.
    expect(found.items.map(({ ordinal }) => ordinal)).toEqual([1, 0, 2]);
  });
});

describe('run list', () => {
  it('searches, filters and sorts', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    await fill(store, 6, 9);
    const ids = async (query: Parameters<RunStore['list']>[0]): Promise<string[]> =>
      (await store.list(query)).items.map((item) => item.runId);
    expect(await ids({ search: 'RUN 4' })).toEqual(['run-4']);
    expect(await ids({ search: '100%_' })).toEqual([]);
    expect(await ids({ tag: 'odd', sort: [{ column: 'runId' }] })).toEqual(['run-1', 'run-3', 'run-5']);
    expect(await ids({ statuses: ['cancelled'], sort: [{ column: 'run_id', descending: true }] })).toEqual([
      'run-4',
      'run-1',
    ]);
    expect((await store.list({ graphName: 'some_graph', limit: 2, offset: 4 })).items).toHaveLength(2);
    await expect(store.list({ sort: [{ column: '1; --' }] })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
});

describe('filter expressions', () => {
  const columns = {
    names: ['a', 'b'],
    resolve: (name: string) => (['a', 'b'].includes(name) ? `e.${name}` : undefined),
  };

  it('become SQL with every value bound', () => {
    expect(parseFilter(`a == 'x" OR 1' && !(b > 3)`, columns)).toEqual({
      sql: '((e.a = ?) AND (NOT coalesce((e.b > ?), 0)))',
      parameters: ['x" OR 1', 3],
    });
    expect(parseFilter('a ~ "50%_"', columns).parameters).toEqual(['%50\\%\\_%']);
    expect(parseFilter('b >-.5e1||a', columns)).toEqual({
      sql: '((e.b > ?) OR (e.a <> 0))',
      parameters: [-5],
    });
  });

  it.each([
    'a ==',
    '== 1',
    'a == 1 &&',
    '(a == 1',
    'a == 1)',
    'a === 1',
    'c == 1',
    'a ; b',
    'a == 1 b == 2',
    '"x" == a',
    'a > null',
    `${'('.repeat(60)}a`,
    'a '.repeat(1500),
    'a == "open',
  ])('refuse %# with a typed error', (expression) => {
    expect(() => parseFilter(expression, columns)).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });

  it('never let text through, whatever is typed', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (typed) => {
        const outcome = attempt(() => parseFilter(typed, columns).sql);
        expect(outcome).toMatch(
          /^(?:refused: invalid_input|(?:e\.[ab]|AND|OR|NOT|IS|NULL|LIKE|ESCAPE|coalesce|[\s()?<>=,01'\\])*)$/,
        );
      }),
      { seed: 10, numRuns: 2000 },
    );
  });
});

function attempt(work: () => string): string {
  try {
    return work();
  } catch (error) {
    return `refused: ${error instanceof StudioError ? error.code : 'untyped'}`;
  }
}
