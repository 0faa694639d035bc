// Run folders: their life, the rule of one final row, recovery, export, and what happens when a process is killed or
// the disk fails at any step.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import { summarise } from '../stats/aggregate.ts';
import { createBulkThread } from './bulk-thread.ts';
import { nodeFileSystem } from './node-file-system.ts';
import type { RunHandle, RunStore } from './ports.ts';
import { createRunId, episodeKey } from './run-id.ts';
import { createFaultyFileSystem } from './testing/faulty-file-system.ts';
import { openSampleStore, rowOf, samplePlan, sampleRecord, temporaryFolder } from './testing/sample-store.ts';
import { createFakeClock } from '../base/fake-clock.ts';

const graphText = '{"nodes": []}';
const runId = sampleRecord().runId;

async function appendAll(run: RunHandle, overrides: Partial<EpisodeAttempt> = {}): Promise<void> {
  await Promise.all(run.missing().map((planned) => run.append(rowOf(planned, overrides))));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe('a run', () => {
  it('is made whole: plan, graph and an empty journal, and listed at once', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord(), graphText });
    expect((await readdir(run.folder)).sort()).toEqual([
      'episodes.jsonl',
      'graph.json',
      'run.created.json',
      'run.json',
    ]);
    const onDisk = JSON.parse(await readFile(join(run.folder, 'run.json'), 'utf8'));
    expect(onDisk).toMatchObject({
      run_id: runId,
      env_name: 'minivln',
      config: { worker_count: 1, selectors: { my_split: 'test' } },
    });
    expect(await store.readGraphText(runId)).toBe(graphText);
    expect(run.missing()).toHaveLength(10);
    const { items, total } = await store.list();
    expect(total).toBe(1);
    expect(items[0]).toMatchObject({ runId, status: 'queued', counts: { planned: 10, notRun: 10 } });
    await expect(store.create({ record: sampleRecord(), graphText })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('keeps every attempt, and gives back exactly what was appended', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord({ plan: samplePlan(2) }), graphText });
    const [first, second] = run.missing();
    const rows = [
      rowOf(first!, {
        final: false,
        status: 'died',
        metrics: {},
        error: {
          code: 'process_died',
          message: 'SIGSEGV',
          scope: { step: 3 },
          details: { some_key: 1 },
          exitCode: null,
          signal: 'SIGSEGV',
          stderrTail: ['a', 'b'],
        },
      }),
      rowOf(first!, {
        attempt: 2,
        metrics: { success: 1, spl: 0.1 + 0.2, camelCase_kept: 'nan', other: '-inf', none: null },
      }),
      rowOf(second!, { nodeErrors: [{ nodePath: 'a > b', message: 'no', step: 1 }], limit: 'step_budget' }),
    ];
    for (const row of rows) await run.append(row);
    expect(await collect(run.attempts())).toEqual(rows);
    expect(await run.finals()).toEqual(rows.slice(1));
    const { items } = await store.listEpisodes(runId);
    expect(items[0]).toMatchObject({
      attempts: 2,
      retried: true,
      status: 'completed',
      metrics: { other: '-inf', none: null },
    });
    expect(items[1]).toMatchObject({ attempts: 1, retried: false, limit: 'step_budget' });
    expect(items.map(({ startedAt }) => startedAt)).toEqual(rows.slice(1).map(({ startedAt }) => startedAt));
  });

  it('accepts one final row per planned episode, and counts what it refuses', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord(), graphText });
    const [a, b, c] = run.missing();
    await run.append(rowOf(a!));
    const conflict = { code: 'conflict' };
    await expect(run.append(rowOf(a!))).rejects.toMatchObject(conflict);
    await expect(run.append(rowOf(a!, { attempt: 2 }))).rejects.toMatchObject(conflict);
    const both = await Promise.allSettled([run.append(rowOf(b!)), run.append(rowOf(b!))]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    const token = run.beginAttempt(c!.ordinal, 7);
    expect(token).toEqual({ attempt: 1, epoch: 7 });
    await expect(run.append(rowOf(c!, { epoch: 6 }))).rejects.toMatchObject(conflict);
    await expect(run.append(rowOf(c!, { epoch: 7, attempt: 2 }))).rejects.toMatchObject(conflict);
    await expect(run.append(rowOf(c!, { ordinal: 99 }))).rejects.toMatchObject(conflict);
    await run.append(rowOf(c!, { epoch: 7 }));
    expect(run.refusals).toEqual({ secondFinal: 3, staleAttempt: 1, staleEpoch: 1, notPlanned: 1 });
    expect(() => run.beginAttempt(a!.ordinal)).toThrow(StudioError);
    expect(await run.finals()).toHaveLength(3);
  });

  it('refuses a row that could not be read back', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord(), graphText });
    const [first] = run.missing();
    await expect(run.append(rowOf(first!, { metrics: { spl: Number.NaN } }))).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await run.append(rowOf(first!, { metrics: { spl: 'nan' } }));
  });

  it('goes on where it stopped: missing is the plan minus the final rows, attempts count on', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    {
      await using run = await store.create({ record: sampleRecord(), graphText });
      const [a, b] = run.missing();
      await run.append(rowOf(a!));
      await run.append(rowOf(b!, { final: false, status: 'timeout' }));
      await run.finish('paused');
    }
    await using run = await store.open(runId);
    expect(run.missing().map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(run.recordedAttempts(1)).toBe(1);
    expect(run.beginAttempt(1).attempt).toBe(2);
    expect(run.live(3).counts).toMatchObject({ completed: 1, notRun: 9, running: 3 });
    await expect(store.open(runId)).rejects.toMatchObject({ code: 'conflict' });
    await using reader = await store.open(runId, { readOnly: true });
    await expect(reader.update({ status: 'running' })).rejects.toMatchObject({ code: 'read_only' });
    expect(() => reader.beginAttempt(1)).toThrow('reading only');
  });

  it('ends with summary and _DONE, loses the mark when resumed, and has none while paused', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord(), graphText });
    const done = () =>
      stat(join(run.folder, '_DONE')).then(
        () => true,
        () => false,
      );
    await run.finish('paused');
    expect([run.record.finishedAt, await done()]).toEqual([null, false]);
    await appendAll(run);
    const summary = await run.finish('completed', { activeMs: 5 });
    expect(summary).toEqual(
      summarise({ rows: await run.finals(), planned: 10, definitions: run.record.metrics }),
    );
    expect([run.record.status, run.record.activeMs, await done()]).toEqual(['completed', 5, true]);
    expect(await store.readSummary(runId)).toEqual(summary);
    await run.update({ status: 'running', finishedAt: null });
    expect(await done()).toBe(false);
  });

  it('gets its plan once, when its environment is known', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord({ plan: [], metrics: [] }), graphText });
    await run.setPlan(samplePlan(3), { metrics: sampleRecord().metrics, status: 'running' });
    await expect(run.setPlan(samplePlan(3))).rejects.toMatchObject({ code: 'conflict' });
    await appendAll(run);
    expect(run.live(0)).toMatchObject({
      counts: { planned: 3, completed: 3 },
      metrics: [{ measured: 3 }, { measured: 3 }],
    });
    expect((await store.listEpisodes(runId)).total).toBe(3);
    expect((await store.list()).items[0]?.counts.planned).toBe(3);
  });

  it('applies updates in order, also behind one that fails', async () => {
    await using folder = await temporaryFolder();
    let failing = false;
    const fileSystem = createFaultyFileSystem(nodeFileSystem, {
      shouldFail: (called, _count, path) =>
        failing && called === 'rename' && path.endsWith('run.json') ? 'ENOSPC' : undefined,
    });
    await using store = await openSampleStore(folder.path, { fileSystem });
    const run = await store.create({ record: sampleRecord(), graphText });
    failing = true;
    const lost = run.update({ note: 'lost' });
    await expect(lost).rejects.toMatchObject({ code: 'disk_full' });
    failing = false;
    await Promise.all([
      run.update({ note: 'a', tags: ['x'] }),
      run.update({ note: 'b' }),
      run.update({ name: 'n' }),
    ]);
    expect(await store.readRecord(runId)).toMatchObject({ note: 'b', tags: ['x'], name: 'n' });
  });

  it('summarises in a worker thread to the same numbers, and passes its errors on', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path, { bulk: createBulkThread() });
    const run = await store.create({ record: sampleRecord(), graphText });
    await appendAll(run);
    expect(await run.finish('completed')).toEqual(
      summarise({ rows: await run.finals(), planned: 10, definitions: run.record.metrics }),
    );
    await using bulk = createBulkThread();
    await expect(bulk.run('summarise', { folder: join(folder.path, 'nowhere') })).rejects.toMatchObject({
      code: 'not_found',
    });
    const compared = await bulk.run('compare', { baselineFolder: run.folder, otherFolders: [run.folder] });
    expect(compared).toMatchObject({ kind: 'compared', metrics: [{ pValue: 1, same: 10 }, { pValue: 1 }] });
    const page = { baselineFolder: run.folder, otherFolder: run.folder, offset: 0, limit: 4 };
    const flips = await bulk.run('flips', { ...page, metric: 'spl', outcomes: ['same'] });
    expect(flips).toMatchObject({ total: 10, counts: { won: 0, lost: 0, same: 10 } });
    expect(flips.rows).toHaveLength(4);
    await expect(bulk.run('flips', { ...page, metric: 'no', outcomes: ['won'] })).rejects.toMatchObject({
      code: 'not_found',
    });
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    await expect(bulk.run('summarise', { folder: run.folder }, stop.signal)).rejects.toMatchObject({
      code: 'aborted',
    });
  });
});

describe('a store', () => {
  it('deletes to the trash, keeps what a person wrote, and refuses ids that are paths', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord(), graphText });
    await expect(store.delete(runId)).rejects.toMatchObject({ code: 'conflict' });
    await run.finish('cancelled');
    await run[Symbol.asyncDispose]();
    expect((await store.listEpisodes(runId)).items.map(({ status }) => status)).toEqual(
      Array.from({ length: 10 }, () => 'cancelled'),
    );
    await store.annotate(runId, { note: 'good one', tags: ['paper'], name: 'renamed' });
    expect((await store.list({ tag: 'paper' })).items[0]).toMatchObject({
      note: 'good one',
      name: 'renamed',
    });
    const { trashFolder } = await store.delete(runId);
    expect(await readdir(trashFolder)).toContain('run.json');
    expect((await store.list()).total).toBe(0);
    await expect(store.open(runId)).rejects.toMatchObject({ code: 'not_found' });
    for (const id of ['../x', 'a/b', '', '..', '.hidden', 'a\0b'])
      expect(() => store.folderOf(id)).toThrow(StudioError);
  });

  it('makes run ids that sort by time and keys that tell repeats and selectors apart', () => {
    const clock = createFakeClock(Date.UTC(2026, 10, 30, 20, 43, 12, 417));
    expect(createRunId(clock, () => '3f9a1c')).toBe('20261130T204312.417Z-3f9a1c');
    const parts = { ordinal: 42, episodeId: 'e', episodeIndex: 3, repeat: 0, selectors: { split: 'a' } };
    const keys = [parts, { ...parts, repeat: 1 }, { ...parts, selectors: { split: 'b' } }].map(episodeKey);
    expect(new Set(keys).size).toBe(3);
    expect(keys[0]).toMatch(/^00042-[0-9a-f]{8}$/);
  });

  it('finds runs that claim to be alive, leaves queued ones that are queued, and sweeps leftovers', async () => {
    await using folder = await temporaryFolder();
    const ids = ['a-queued', 'b-preparing', 'c-running', 'd-stopping', 'e-completed', 'f-queued-known'];
    {
      await using store = await openSampleStore(folder.path);
      for (const id of ids) {
        await using run = await store.create({ record: sampleRecord({ runId: id }), graphText });
        const status = id.split('-')[1] as 'queued';
        if (id === 'c-running') await appendFile(join(run.folder, 'episodes.jsonl'), '{"crc":');
        await writeFile(join(run.folder, '.run.json.0123.tmp'), 'half');
        await run.update({ status });
      }
      await nodeFileSystem.makeFolder(join(folder.path, 'eval_runs', '.new-x-1'));
    }
    await using store = await openSampleStore(folder.path);
    const report = await store.recover({ isQueued: (id) => id === 'f-queued-known' });
    expect(report.interrupted.toSorted((x, y) => (x.runId < y.runId ? -1 : 1))).toEqual(
      ['queued', 'preparing', 'running', 'stopping'].map((was, i) => ({ runId: ids[i], was, missing: 10 })),
    );
    expect(report.tornRuns).toEqual(['c-running']);
    expect((await readdir(join(folder.path, 'eval_runs'))).sort()).toEqual(ids);
    expect(await store.readRecord('c-running')).toMatchObject({ status: 'interrupted', activeMs: 0 });
    expect((await store.readRecord('f-queued-known')).status).toBe('queued');
    expect(await store.recover({ isQueued: () => true })).toEqual({
      interrupted: [],
      unreadable: [],
      tornRuns: [],
      ended: [],
    });
  });

  it('writes the end of a run that was killed after its last row, which has nothing left to resume', async () => {
    await using folder = await temporaryFolder();
    const statuses = { 'a-clean': 'completed', 'b-failed': 'completed_with_errors' } as const;
    {
      await using store = await openSampleStore(folder.path);
      for (const runId of Object.keys(statuses)) {
        await using run = await store.create({ record: sampleRecord({ runId }), graphText });
        for (const planned of run.missing())
          await run.append(
            rowOf(planned, runId === 'b-failed' && planned.ordinal === 3 ? { status: 'died' } : {}),
          );
        await run.update({ status: 'running' });
      }
    }
    await using store = await openSampleStore(folder.path);
    const { interrupted, ended } = await store.recover();
    expect([interrupted, ended.toSorted()]).toEqual([[], Object.keys(statuses)]);
    for (const [runId, status] of Object.entries(statuses)) {
      expect(await store.readRecord(runId)).toMatchObject({
        status,
        finishedAt: expect.any(String) as string,
      });
      expect((await readdir(join(folder.path, 'eval_runs', runId))).includes('_DONE')).toBe(true);
    }
  });

  it('opens a run whose run.json is damaged from the record as created, and says what cannot be read at all', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    {
      await using run = await store.create({ record: sampleRecord(), graphText });
      await run.append(rowOf(run.missing()[0]!));
      await run.update({ status: 'completed' });
      await writeFile(join(run.folder, 'run.json'), '{"run_id": "2026');
    }
    await nodeFileSystem.makeFolder(store.folderOf('not-a-run'));
    const report = await store.recover();
    expect(report.interrupted).toMatchObject([{ runId, missing: 9 }]);
    expect(report.unreadable).toMatchObject([{ runId: 'not-a-run' }]);
    const { durationMs } = rowOf(sampleRecord().plan[0]!);
    expect(await store.readRecord(runId)).toMatchObject({ status: 'interrupted', activeMs: durationMs });
    expect(await readFile(join(store.folderOf(runId), 'run.json.damaged'), 'utf8')).toBe('{"run_id": "2026');
  });

  it('exports rows that read back to the same values, with the filter named', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord({ plan: samplePlan(4) }), graphText });
    const [a, b, c, d] = run.missing();
    await run.append(
      rowOf(a!, {
        metrics: { success: 1, spl: 0.1 + 0.2 },
        instruction: '=HYPERLINK("http://x","y"), go\nleft',
      }),
    );
    await run.append(rowOf(b!, { metrics: { success: 0, spl: 'nan' }, sceneId: '-inf' }));
    await run.append(rowOf(c!, { metrics: { success: 0, spl: '-inf' }, instruction: '@SUM(A1)' }));
    await run.append(rowOf(d!, { metrics: { success: 1, spl: null }, status: 'completed' }));
    const text = async (format: 'csv' | 'json' | 'jsonl', expression = ''): Promise<string> =>
      (await collect(store.export({ runId, format, query: { expression } }))).join('');
    const csv = await text('csv');
    const lines = csv.split('\n');
    expect(lines[0]?.split(',').slice(-2)).toEqual(['success', 'spl']);
    expect(csv).toContain(`"'=HYPERLINK(""http://x"",""y""), go\nleft"`);
    expect(csv).toContain("'@SUM(A1)");
    expect(csv).toContain("'-inf");
    expect(csv).toMatch(/,1,0\.30000000000000004\n/);
    expect(csv).toMatch(/,0,nan\n/);
    expect(csv).toMatch(/,0,-inf\n/);
    expect(csv).toMatch(/,1,\n$/);
    const json = JSON.parse(await text('json'));
    expect(json.episodes.map((row: { metrics: unknown }) => row.metrics)).toEqual(
      (await run.finals()).map(({ metrics }) => metrics),
    );
    expect(json.summary.metrics[0]).toMatchObject({ started: { n: 4, method: 'wilson' } });
    const filtered = (await text('jsonl', 'success == 1'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(filtered[0]).toEqual({ run_id: runId, filter: 'success == 1' });
    expect(filtered.slice(1).map(({ ordinal }) => ordinal)).toEqual([0, 3]);
    expect((await text('csv', 'success == 1')).startsWith('# filter: success == 1\n')).toBe(true);
  });

  it('reads a workspace that somebody else owns without touching it', async () => {
    await using folder = await temporaryFolder();
    await using owner = await openSampleStore(folder.path);
    const run = await owner.create({ record: sampleRecord(), graphText });
    await appendAll(run);
    await using reader = await openSampleStore(folder.path, { readOnly: true });
    expect((await reader.list()).items[0]?.counts.completed).toBe(10);
    expect((await reader.listEpisodes(runId, { expression: 'success == 1' })).total).toBe(5);
    await expect(reader.delete(runId)).rejects.toMatchObject({ code: 'read_only' });
    await using handle = await reader.open(runId);
    expect(handle.readOnly).toBe(true);
  });
});

describe('a process that is killed', () => {
  it('loses no row it acknowledged and none is there twice', { timeout: 60_000 }, async () => {
    await using folder = await temporaryFolder();
    const script = fileURLToPath(new URL('./testing/append-forever.ts', import.meta.url));
    const plan = samplePlan(4000);
    {
      await using store = await openSampleStore(folder.path);
      await using _run = await store.create({ record: sampleRecord({ plan }), graphText });
    }
    const acknowledged = new Set<number>();
    for (let round = 0; round < 4; round++) {
      const child = spawn(process.execPath, [script, folder.path, runId], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const before = acknowledged.size;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.add(Number(line));
        if (acknowledged.size >= before + 40 + round * 37) child.kill('SIGKILL');
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      expect(child.signalCode).toBe('SIGKILL');
      await using store = await openSampleStore(folder.path);
      expect((await store.recover()).interrupted).toMatchObject([{ was: 'running' }]);
      await using run = await store.open(runId);
      const finals = await run.finals();
      const recorded = finals.map(({ ordinal }) => ordinal);
      expect(new Set(recorded).size).toBe(recorded.length);
      expect([...acknowledged].filter((ordinal) => !recorded.includes(ordinal))).toEqual([]);
      expect(run.missing()).toHaveLength(plan.length - recorded.length);
      expect((await store.list()).items[0]?.counts.completed).toBe(recorded.length);
    }
    expect(acknowledged.size).toBeGreaterThan(300);
  });
});

describe('a disk that fails', () => {
  /** What was acknowledged before the fault is there afterwards, once, and the rest can be appended. */
  async function lifeWithFault(failAt: number, code: string): Promise<{ calls: number; failed: boolean }> {
    await using folder = await temporaryFolder();
    let armed = true;
    const fileSystem = createFaultyFileSystem(nodeFileSystem, {
      // From the k-th call on the disk is full, until somebody makes room.
      shouldFail: (called, count) =>
        armed && count >= failAt && called !== 'removeFile' && called !== 'truncate' ? code : undefined,
    });
    const record = sampleRecord({ plan: samplePlan(6) });
    const acknowledged: number[] = [];
    const errors: unknown[] = [];
    const note = (error: unknown): void => void errors.push(error);
    const live = async (store: RunStore): Promise<void> => {
      const run = await store.create({ record, graphText });
      await run.update({ status: 'running' });
      for (const planned of run.missing()) {
        await run.append(rowOf(planned)).then(() => acknowledged.push(planned.ordinal), note);
      }
      await run.finish('completed');
    };
    const store = await openSampleStore(folder.path, { fileSystem }).catch(note);
    if (store) {
      await live(store).catch(note);
      await Promise.resolve(store[Symbol.asyncDispose]()).catch(note);
    }
    armed = false;
    const expected = code === 'ENOSPC' ? 'disk_full' : 'io_failed';
    expect(errors).toEqual(
      errors.map(() => expect.objectContaining({ name: 'StudioError', code: expected })),
    );
    await using after = await openSampleStore(folder.path);
    await after.recover();
    const made = (await after.list()).total === 1;
    expect(made || acknowledged.length === 0).toBe(true);
    if (!made) await after.create({ record, graphText }).then((run) => run[Symbol.asyncDispose]());
    await using run = await after.open(runId);
    expect((await run.finals()).map(({ ordinal }) => ordinal)).toEqual(acknowledged);
    await appendAll(run);
    expect((await run.finish('completed')).counts).toMatchObject({ planned: 6, completed: 6, notRun: 0 });
    return { calls: fileSystem.calls(), failed: errors.length > 0 };
  }

  it.each([
    { code: 'ENOSPC', every: 1 },
    { code: 'EIO', every: 4 },
  ])('at any call, with $code, loses nothing and says so', { timeout: 60_000 }, async ({ code, every }) => {
    const { calls, failed } = await lifeWithFault(Infinity, code);
    expect([failed, calls > 40]).toEqual([false, true]);
    for (let failAt = 0; failAt < calls; failAt += every) {
      expect((await lifeWithFault(failAt, code)).failed).toBe(true);
    }
  });
});
