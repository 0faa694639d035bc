// Results of other programs as finished runs, against what their authors printed and tests computed independently.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from './base/clock.ts';
import { createRandom } from './base/random.ts';
import type { RunRecord } from './contract/run.ts';
import { importEpisodes } from './run-import.ts';
import { createPerformer } from './store/bulk-work.ts';
import { importedRunOf, parseLooseJson } from './store/import-episodes.ts';
import { nodeFileSystem } from './store/node-file-system.ts';
import type { RunStore } from './store/ports.ts';
import { openRunStore } from './store/run-store.ts';

const results = fileURLToPath(new URL('../../shared/data/r2r_ce/peer_eval_results', import.meta.url));
const metricsById = z.record(z.string(), z.record(z.string(), z.number()));
const perform = createPerformer(nodeFileSystem);

interface Place extends AsyncDisposable {
  readonly folder: string;
  readonly store: RunStore;
}

async function openPlace(): Promise<Place> {
  const folder = await mkdtemp(path.join(tmpdir(), 'run-import-'));
  const store = await openRunStore({
    fileSystem: nodeFileSystem,
    clock: systemClock,
    runsFolder: path.join(folder, 'runs'),
    trashFolder: path.join(folder, '.trash'),
    indexPath: path.join(folder, 'index.sqlite'),
  });
  const close = async (): Promise<void> => {
    await store[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  };
  return { folder, store, [Symbol.asyncDispose]: close };
}

async function importFile({ folder, store }: Place, file: string): Promise<RunRecord> {
  const imported = await perform('readImport', { path: file });
  if (imported.kind === 'bundle') throw new Error('no bundle was expected');
  const rest = {
    source: path.basename(path.dirname(file)),
    name: '',
    environment: 'r2r_ce',
    split: 'val_unseen',
  };
  return importEpisodes({
    store,
    clock: systemClock,
    workspaceFolder: folder,
    imported,
    graphText: null,
    ...rest,
  });
}

/** 2 P(X <= k) for X binomial(n, 1/2), with whole numbers. */
function mcnemarByWholeNumbers(onlyA: number, onlyB: number): number {
  const n = onlyA + onlyB;
  let term = 1n;
  let sum = 1n;
  for (let k = 1n; k <= BigInt(Math.min(onlyA, onlyB)); k++) {
    term = (term * (BigInt(n) - k + 1n)) / k;
    sum += term;
  }
  return Math.min(1, Number((sum * 2n * 10n ** 30n) / 2n ** BigInt(n)) / 1e30);
}

/** The whole permutation distribution of a sum of signed whole numbers. */
function signFlipByConvolution(differences: readonly number[]): number {
  let chances = new Map([[0, 1]]);
  for (const difference of differences) {
    const next = new Map<number, number>();
    for (const [sum, chance] of chances)
      for (const signed of [difference, -difference])
        next.set(sum + signed, (next.get(sum + signed) ?? 0) + chance / 2);
    chances = next;
  }
  const observed = Math.abs(differences.reduce((sum, difference) => sum + difference, 0));
  return [...chances].reduce(
    (total, [sum, chance]) => (Math.abs(sum) >= observed ? total + chance : total),
    0,
  );
}

function signFlipByOtherDraws(differences: readonly number[], draws: number): number {
  const random = createRandom(20_261_130);
  const observed = Math.abs(differences.reduce((sum, difference) => sum + difference, 0));
  let hits = 0;
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0;
    for (const difference of differences) sum += random.next() < 0.5 ? difference : -difference;
    if (Math.abs(sum) >= observed - 1e-9) hits++;
  }
  return (hits + 1) / (draws + 1);
}

describe.skipIf(!existsSync(results))('results of others on R2R-CE', () => {
  const folders = existsSync(results) ? readdirSync(results) : [];
  const fileOf = (name: string, start: string): string =>
    path.join(
      results,
      name,
      readdirSync(path.join(results, name)).find((file) => file.startsWith(start)) ?? '',
    );

  it('import as finished runs whose means are those their authors printed, each to 1e-9', async () => {
    await using place = await openPlace();
    expect(folders).toHaveLength(3);
    for (const name of folders) {
      const record = await importFile(place, fileOf(name, 'stats_ep_'));
      const summary = await place.store.readSummary(record.runId);
      expect(record).toMatchObject({ status: 'completed', importedFrom: name, stepBudget: null });
      expect(summary.counts).toMatchObject({ planned: 1839, completed: 1839, notRun: 0 });
      const printed = z
        .record(z.string(), z.number())
        .parse(JSON.parse(readFileSync(fileOf(name, 'stats_ckpt'), 'utf8')));
      const means = Object.fromEntries(
        summary.metrics.map(({ definition, completed }) => [definition.name, completed.mean ?? Number.NaN]),
      );
      const { evaluate_episodes: _count, ...expected } = printed;
      expect(Object.keys(means).sort()).toEqual(Object.keys(expected).sort());
      for (const [metric, mean] of Object.entries(expected))
        expect([metric, Math.abs((means[metric] ?? Number.NaN) - mean) <= 1e-9]).toEqual([metric, true]);
    }
  });

  it('compare to the p-values of an independent computation, with the unknowns said first', async () => {
    await using place = await openPlace();
    const first = 'cont-cwp-cma-ori-old';
    const second = 'cont-cwp-vlnbert-ori-old';
    const [a, b] = [
      await importFile(place, fileOf(first, 'stats_ep_')),
      await importFile(place, fileOf(second, 'stats_ep_')),
    ];
    const folders = {
      baselineFolder: place.store.folderOf(a.runId),
      otherFolders: [place.store.folderOf(b.runId)],
    };
    const refused = await perform('compare', folders);
    expect(refused.kind).toBe('refused');
    expect(refused.reasons.map(({ kind }) => kind).sort()).toEqual(['unknown_budget', 'unknown_seed']);
    const found = await perform('compare', { ...folders, commonOnly: true });
    if (found.kind !== 'compared') throw new Error('the runs were refused');
    const valuesOf = (name: string) =>
      metricsById.parse(JSON.parse(readFileSync(fileOf(name, 'stats_ep_'), 'utf8')));
    const [valuesA, valuesB] = [valuesOf(first), valuesOf(second)];
    const differences = (metric: string): number[] =>
      Object.keys(valuesA).map(
        (id) => (valuesB[id]?.[metric] ?? Number.NaN) - (valuesA[id]?.[metric] ?? Number.NaN),
      );
    const row = (metric: string) => found.metrics.find((candidate) => candidate.metric.name === metric);
    const success = differences('success');
    const won = success.filter((difference) => difference > 0).length;
    const lost = success.filter((difference) => difference < 0).length;
    expect(row('success')).toMatchObject({ test: 'mcnemar_exact', pairs: 1839, won, lost });
    expect(Math.abs((row('success')?.pValue ?? Number.NaN) - mcnemarByWholeNumbers(lost, won))).toBeLessThan(
      1e-12,
    );
    const exact = signFlipByConvolution(differences('steps_taken'));
    const drawn = row('steps_taken')?.pValue ?? Number.NaN;
    expect(Math.abs(drawn - exact)).toBeLessThanOrEqual(
      5 * Math.sqrt((exact * (1 - exact)) / 40_000) + 1 / 40_000,
    );
    for (const metric of ['spl', 'ndtw']) {
      const other = signFlipByOtherDraws(differences(metric), 4000);
      const spread = Math.sqrt((other * (1 - other)) / 4000);
      expect(Math.abs((row(metric)?.pValue ?? Number.NaN) - other)).toBeLessThanOrEqual(
        5 * spread + 1 / 2000,
      );
    }
  });
});

describe('an import', () => {
  it('reads bare NaN and Infinity as Python writes them, and leaves out what is no number, saying so', () => {
    const json = parseLooseJson(
      '{"1": {"spl": NaN, "x": -Infinity, "NaN": 1, "scan": "NaN", "curve": [1]}, "2": {"spl": true, "x": null}}',
    );
    const run = importedRunOf(json);
    expect(run.episodes.map(({ metrics }) => metrics)).toEqual([
      { spl: 'nan', x: '-inf', NaN: 1 },
      { spl: 1, x: null },
    ]);
    expect(run.episodes[0]?.sceneId).toBe('NaN');
    expect(run.warnings).toEqual(['Left out because they are no numbers: curve']);
  });

  it('takes a run folder of AgentCanvas with its failures, and plans what it never ran', async () => {
    await using place = await openPlace();
    const folder = path.join(place.folder, 'run_a');
    await mkdir(path.join(folder, 'episodes', 'ep0003'), { recursive: true });
    const episode = { scene_id: 's', instruction: 'go', step_count: 7, elapsed_sec: 1.5, worker_id: 1 };
    const summary = {
      run_id: 'run_a',
      status: 'cancelled',
      total_episodes: 5,
      created_at: '2026-01-02T03:04:05',
      elapsed_sec: 60,
      config: {
        graph_name: 'a_graph',
        env_nodeset: 'env_habitat',
        selectors: { split: 'val_seen' },
        step_budget: 40,
      },
      episodes: [
        {
          ...episode,
          episode_index: 3,
          episode_id: '12',
          status: 'completed',
          metrics: { success: 1, spl: 0.5 },
        },
        {
          ...episode,
          episode_index: 4,
          episode_id: '13',
          status: 'error',
          error: 'timeout after 80.0s',
          metrics: { success: 1 },
        },
        {
          ...episode,
          episode_index: 5,
          episode_id: '',
          status: 'error',
          error: 'no verdict: …',
          metrics: {},
        },
      ],
    };
    await writeFile(path.join(folder, 'summary.json'), JSON.stringify(summary));
    const record = await importFile(place, path.join(folder, 'summary.json'));
    expect(record).toMatchObject({
      status: 'cancelled',
      graphName: 'a_graph',
      split: 'val_unseen',
      stepBudget: 40,
      activeMs: 60_000,
    });
    const { counts, metrics } = await place.store.readSummary(record.runId);
    expect(counts).toMatchObject({ planned: 5, completed: 1, timeout: 1, noVerdict: 1, notRun: 2 });
    // What a failure left behind does not count.
    expect(metrics.find(({ definition }) => definition.name === 'success')).toMatchObject({
      started: { mean: 1 / 3, n: 3 },
      completed: { mean: 1, n: 1 },
      partial: true,
    });
    const { items } = await place.store.listEpisodes(record.runId);
    expect(items.map(({ episodeId, status }) => [episodeId, status])).toEqual([
      ['12', 'completed'],
      ['13', 'timeout'],
      [null, 'no_verdict'],
      [null, 'cancelled'],
      [null, 'cancelled'],
    ]);
  });

  it('refuses what is neither', async () => {
    for (const json of [[], {}, 3, { a: 1 }, { episodes: [{ episode_index: -1 }] }])
      expect(() => importedRunOf(json)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    expect(() => parseLooseJson('{')).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});
