// Runs as files and back: values that survive every form, bundles that import elsewhere, archives that are refused.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import type { EpisodeAttempt, MetricValue } from '../contract/run.ts';
import { createPerformer } from './bulk-work.ts';
import { nodeFileSystem } from './node-file-system.ts';
import type { RunHandle } from './ports.ts';
import { openSampleStore, rowOf, sampleRecord, samplePlan, temporaryFolder } from './testing/sample-store.ts';
import { isCleanName, readZipEntries } from './zip-reader.ts';
import { ZipWriter } from './zip-writer.ts';

const perform = createPerformer(nodeFileSystem);
const values: readonly MetricValue[] = [0.1 + 0.2, 'nan', 'inf', '-inf', null, 0, -1.5e-300, 5e-324];

async function appendValues(run: RunHandle): Promise<EpisodeAttempt[]> {
  for (const [place, planned] of run.missing().entries()) {
    const metrics = { success: place % 2, spl: values[place] ?? null };
    await run.append(rowOf(planned, { metrics, instruction: place === 0 ? '=1+1\tx\n"y"' : null }));
  }
  return run.finals();
}

const whole = { ordinals: null, filter: null };

describe('a run as a file', () => {
  it('is Parquet that another program reads back to the same values', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({
      record: sampleRecord({ plan: samplePlan(values.length) }),
      graphText: '{}',
    });
    const rows = await appendValues(run);
    const target = join(folder.path, 'run.parquet');
    const bytes = await perform('exportFile', { folder: run.folder, format: 'parquet', target, ...whole });
    const content = await readFile(target);
    expect(content.length).toBe(bytes);
    const file = content.buffer.slice(content.byteOffset, content.byteOffset + content.length);
    const read = await parquetReadObjects({ file });
    expect(read.map((row) => row['spl'])).toEqual([
      0.1 + 0.2,
      Number.NaN,
      Infinity,
      -Infinity,
      null,
      0,
      -1.5e-300,
      5e-324,
    ]);
    expect(
      read.map((row) => [row['ordinal'], row['episode_id'], row['status'], row['steps'], row['retried']]),
    ).toEqual(rows.map((row) => [row.ordinal, row.episodeId, 'completed', row.steps, false]));
    expect(read[0]?.['instruction']).toBe('=1+1\tx\n"y"');
    expect(parquetMetadata(file).key_value_metadata).toContainEqual({
      key: 'run_id',
      value: run.record.runId,
    });
  });

  it('honours and names the filter in every form, with the numbers of the rows that are in it', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord({ plan: samplePlan(8) }), graphText: '{}' });
    await appendValues(run);
    const query = { expression: 'success == 1' };
    const { runId } = run.record;
    const text = async (format: 'tsv' | 'latex' | 'html' | 'json'): Promise<string> => {
      let all = '';
      for await (const part of store.export({ runId, format, query })) all += part;
      return all;
    };
    const tsv = (await text('tsv')).trim().split('\n');
    expect([tsv[0], tsv.length]).toEqual(['# filter: success == 1', 6]);
    expect(await text('latex')).toContain('% only episodes with: success == 1');
    expect(await text('latex')).toMatch(/\$100\.0\\;\[51\.0, 100\.0\]_\{\\,n=4\}\$/);
    expect(await text('html')).toContain('Only episodes with: success == 1');
    expect(JSON.parse(await text('json')).summary.counts).toMatchObject({ planned: 4, completed: 4 });
    const ordinals = await store.matchingOrdinals(runId, query);
    const target = join(folder.path, 'some.csv');
    await perform('exportFile', {
      folder: run.folder,
      format: 'csv',
      target,
      ordinals,
      filter: 'success == 1',
    });
    expect((await readFile(target, 'utf8')).split('\n')).toHaveLength(7);
  });

  it('pastes into a spreadsheet without running anything or breaking a row', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const run = await store.create({ record: sampleRecord({ plan: samplePlan(2) }), graphText: '{}' });
    await appendValues(run);
    const tsv = await perform('exportText', { folder: run.folder, format: 'tsv', ...whole });
    const [head = '', first = ''] = tsv.split('\n');
    expect(first.split('\t')).toHaveLength(head.split('\t').length);
    expect(first).toContain(`'=1+1 x "y"`);
  });

  it('is a report without scripts or addresses, in which what others wrote is text', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(folder.path);
    const record = sampleRecord({ plan: samplePlan(2), name: '<script>alert(1)</script>' });
    const run = await store.create({ record, graphText: '{}' });
    await run.append(rowOf(run.missing()[0]!, { sceneId: '<img src=x onerror=alert(1)>' }));
    const html = await perform('exportText', { folder: run.folder, format: 'html', ...whole });
    expect(html).not.toMatch(/<script|<img|https?:\/\/|url\(/);
    expect(html).toContain('&lt;script&gt;');
    expect(html).toContain('1 not run');
  });
});

describe('a bundle', () => {
  it('imports elsewhere to the same rows, recordings and graph, under a free id', async () => {
    await using folder = await temporaryFolder();
    await using store = await openSampleStore(join(folder.path, 'here'));
    const run = await store.create({
      record: sampleRecord({ plan: samplePlan(8) }),
      graphText: '{"name":"g"}',
    });
    const rows = await appendValues(run);
    const asset = `${'a'.repeat(64)}.png`;
    const episode = run.episodeFolder(run.record.plan[0]!.key);
    await mkdir(join(episode, 'assets'), { recursive: true });
    await mkdir(join(run.folder, 'scratch', 'left'), { recursive: true });
    await writeFile(join(run.folder, 'scratch', 'left', 'x'), 'x');
    await writeFile(join(episode, 'assets', asset), Buffer.alloc(100_000, 7));
    await writeFile(join(episode, 'log.jsonl'), '{"step":0,"node":"a"}\n');
    await run.finish('completed');
    const path = join(folder.path, 'run.zip');
    await perform('exportBundle', { folder: run.folder, target: path });
    // Another program reads it.
    expect(Object.keys(unzipSync(await readFile(path)))).toContain(
      `episodes/${run.record.plan[0]!.key}/assets/${asset}`,
    );
    const there = join(folder.path, 'there');
    await using other = await openSampleStore(there);
    const runsFolder = join(there, 'eval_runs');
    const take = () =>
      perform('unpackBundle', { path, folder: join(runsFolder, '.new-import-x'), runsFolder });
    const first = await take();
    const second = await take();
    expect(first).toEqual({ runId: run.record.runId, episodes: 8 });
    expect(second.runId).not.toBe(first.runId);
    await other.refreshIndex();
    expect((await other.list()).items.map(({ status, counts }) => [status, counts.completed])).toEqual([
      ['completed', 8],
      ['completed', 8],
    ]);
    await using read = await other.open(second.runId, { readOnly: true });
    expect(await read.finals()).toEqual(rows);
    expect(await other.readGraphText(second.runId)).toBe('{"name":"g"}');
    expect(await readFile(join(read.episodeFolder(run.record.plan[0]!.key), 'assets', asset))).toEqual(
      Buffer.alloc(100_000, 7),
    );
    expect(await readdir(read.folder)).not.toContain('scratch');
  });

  it('that is not one of ours changes nothing', async () => {
    await using folder = await temporaryFolder();
    const runsFolder = join(folder.path, 'runs');
    await mkdir(runsFolder);
    const record = strToU8('{}');
    const base = { 'run.json': record, 'graph.json': record, 'episodes.jsonl': record };
    const archives: Record<string, Record<string, Uint8Array>> = {
      up: { ...base, '../evil': record },
      absolute: { ...base, '/etc/evil': record },
      drive: { ...base, 'C:/evil': record },
      backslash: { ...base, 'a\\..\\evil': record },
      foreign: { ...base, 'bin/sh': record },
      asset: { ...base, 'episodes/k/assets/run.sh': record },
      incomplete: { 'run.json': record },
      unreadable: base,
    };
    for (const [name, files] of Object.entries(archives)) {
      const path = join(folder.path, `${name}.zip`);
      await writeFile(path, zipSync(files));
      const taken = perform('unpackBundle', { path, folder: join(runsFolder, '.new-x'), runsFolder });
      expect([name, await codeOf(taken)]).toEqual([
        name,
        name === 'unreadable' ? 'corrupt' : 'invalid_input',
      ]);
    }
    const good = zipSync(base);
    for (const [name, content] of Object.entries({
      empty: new Uint8Array(),
      text: strToU8('PK is how it begins'),
      short: good.subarray(0, good.length - 30),
      link: asLink(good),
      lying: withSize(good, 7),
    })) {
      const path = join(folder.path, `${name}.zip`);
      await writeFile(path, content);
      const taken = perform('unpackBundle', { path, folder: join(runsFolder, '.new-x'), runsFolder });
      expect([name, await codeOf(taken)]).toEqual([name, 'invalid_input']);
    }
    expect(await readdir(runsFolder)).toEqual([]);
  });

  it('is bounded in number, size and ratio before anything is written', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'bomb.zip');
    await writeFile(path, zipSync({ 'run.json': new Uint8Array(4_000_000) }, { level: 9 }));
    const limits = { entries: 10, bytes: 10_000_000, ratio: 200 };
    await expect(readZipEntries(path, limits)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(readZipEntries(path, { ...limits, ratio: 2000, bytes: 1000 })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(readZipEntries(path, { ...limits, ratio: 2000, entries: 0 })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(await readZipEntries(path, { ...limits, ratio: 2000 })).toHaveLength(1);
  });

  it('has names that lead nowhere else', () => {
    for (const name of ['../a', 'a/../b', '/a', 'a//b', './a', 'a\\b', 'c:a', 'a\u0000', '', 'a/.', 'x.'])
      expect([name, isCleanName(name)]).toEqual([name, false]);
    for (const name of ['a', 'a/b.json', 'episodes/00001-ab/assets/x.png', '_DONE'])
      expect([name, isCleanName(name)]).toEqual([name, true]);
  });

  it('has more files than a plain ZIP can count', async () => {
    await using folder = await temporaryFolder();
    const small = join(folder.path, 'small');
    await writeFile(small, 'x');
    const path = join(folder.path, 'many.zip');
    await using zip = await ZipWriter.create(path);
    for (let i = 0; i < 300; i++) await zip.addFile(`f${i}.png`, small);
    await zip.finish();
    expect(await readZipEntries(path)).toHaveLength(300);
  });
});

/** How it was refused; `taken` if it was not. */
function codeOf(taken: Promise<unknown>): Promise<string> {
  return taken.then(
    () => 'taken',
    (error: { readonly code?: string }) => error.code ?? 'untyped',
  );
}

const directoryMark = Buffer.from([0x50, 0x4b, 0x01, 0x02]);

/** The first entry as a symbolic link. */
function asLink(archive: Uint8Array): Buffer {
  const copy = Buffer.from(archive);
  const at = copy.indexOf(directoryMark);
  copy.writeUInt16LE(3 << 8, at + 4);
  copy.writeUInt32LE((0o120_777 << 16) >>> 0, at + 38);
  return copy;
}

/** The first entry with another size than it has. */
function withSize(archive: Uint8Array, size: number): Buffer {
  const copy = Buffer.from(archive);
  copy.writeUInt32LE(size, copy.indexOf(directoryMark) + 24);
  return copy;
}
