// The interface with much in it, in headless Chromium: a run of 100,000 episodes opens as a table and scrolls, History
// opens with 5,000 runs. Scrolling takes turns with the same page standing idle and with a page of the same rows that has
// no script at all, so that what the machine drops by itself is known, at rest and by drawing text; CPU per frame says
// the same on a loaded machine. The runs are written through the store.
import type { Page } from '@playwright/test';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../../main/base/clock.ts';
import { nodeFileSystem } from '../../main/store/node-file-system.ts';
import type { RunStore } from '../../main/store/ports.ts';
import { openRunStore } from '../../main/store/run-store.ts';
import { rowOf, samplePlan, sampleRecord } from '../../main/store/testing/sample-store.ts';
import { findOrMakeWorkspace } from '../../main/store/workspace.ts';
import {
  droppedOf,
  framesWhileScrolling,
  openApp,
  openStaticRows,
  timeToDraw,
  type AppPage,
  type FrameShare,
} from './app-page.ts';
import { median, saveResult } from './harness.ts';

/** Sizes, and a folder in which what was prepared is kept and used again. */
const keptFolder = process.env['INTERFACE_BENCH_FOLDER'];
const episodes = Number(process.env['INTERFACE_BENCH_EPISODES'] ?? 100_000);
const runs = Number(process.env['INTERFACE_BENCH_RUNS'] ?? 5000);
const rounds = 7;
const windowMs = 2000;
const largeRun = '20261130T120000.000Z-ffffff';

/** A run with a verdict for every episode, as an evaluation would have left it. */
async function addRun(store: RunStore, runId: string, count: number): Promise<void> {
  const plan = samplePlan(count);
  await using run = await store.create({
    record: sampleRecord({ runId, name: `run ${runId}`, plan, stepBudget: 500 }),
    graphText: '{"name":"some_graph","nodes":[],"edges":[]}',
  });
  await run.update({ status: 'running', startedAt: '2026-11-30T12:00:01.000Z' });
  await Promise.all(
    plan.map((planned) =>
      run.append(rowOf(planned, { steps: (planned.ordinal * 7919) % 500, instruction: 'go to the kitchen' })),
    ),
  );
  await run.finish('completed', { finishedAt: '2026-11-30T12:30:00.000Z' });
}

async function prepare(folder: string): Promise<void> {
  const { runsFolder, trashFolder, indexPath } = await findOrMakeWorkspace({
    fileSystem: nodeFileSystem,
    explicit: folder,
    startFolder: folder,
  });
  await using store = await openRunStore({
    fileSystem: nodeFileSystem,
    clock: systemClock,
    runsFolder,
    trashFolder,
    indexPath,
  });
  await addRun(store, largeRun, episodes);
  const inFlight = 16;
  for (let from = 1; from < runs; from += inFlight) {
    const numbers = Array.from({ length: Math.min(inFlight, runs - from) }, (_item, at) => from + at);
    await Promise.all(
      numbers.map((number) => addRun(store, `20261129T${String(number).padStart(6, '0')}.000Z-aaaaaa`, 1)),
    );
  }
}

const grid = (label: string): string => `[role=grid][aria-label="${label}"]`;
const firstRow = (label: string): string => `${grid(label)} [role=row][aria-rowindex="2"]`;

/** The page anew, so that nothing of the run is known to it. */
async function startOver(page: Page): Promise<void> {
  await page.evaluate(() => (location.hash = '#/settings'));
  await page.reload();
  await page.getByText('Connected').waitFor();
  await page.waitForTimeout(500);
}

async function openingMs(page: Page, hash: string, label: string): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await startOver(page);
    times.push(await timeToDraw(page, hash, firstRow(label)));
  }
  return times;
}

interface Window extends FrameShare {
  readonly cpuMsPerFrame: number;
}

type Windows = Record<'scrolling' | 'idle' | 'bare', Window[]>;

async function scrolling({ page, mainThreadMs }: AppPage, label: string): Promise<Windows> {
  const windows: Windows = { scrolling: [], idle: [], bare: [] };
  const bare = await openStaticRows(page, label);
  for (let round = 0; round < rounds; round++) {
    const pixels = round % 2 === 0 ? 120 : -90;
    for (const [kind, shown, by] of [
      ['idle', page, 0],
      ['bare', bare, pixels],
      ['scrolling', page, pixels],
    ] as const) {
      await shown.bringToFront();
      const before = await mainThreadMs();
      const selector = shown === bare ? '.grid' : grid(label);
      const share = droppedOf(await framesWhileScrolling(shown, { selector, pixels: by, windowMs }));
      windows[kind].push({ ...share, cpuMsPerFrame: ((await mainThreadMs()) - before) / share.frames });
    }
  }
  await bare.close();
  const last = await page
    .locator(`${grid(label)} [role=row]`)
    .last()
    .getAttribute('aria-rowindex');
  if (!(Number(last) > 40)) throw new Error(`the table did not scroll: its last drawn row is ${last}`);
  return windows;
}

const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;
const shareOf = ({ frames, dropped }: FrameShare): number => dropped / Math.max(1, frames + dropped);
const dropped = (windows: readonly Window[]): string => `${percent(median(windows.map(shareOf)))} dropped`;
const cpu = (windows: readonly Window[]): string =>
  `${median(windows.map(({ cpuMsPerFrame }) => cpuMsPerFrame)).toFixed(1)} ms of CPU per frame`;
const listed = (times: readonly number[]): string =>
  `${median(times).toFixed(0)} ms (${times.map((time) => time.toFixed(0)).join(', ')})`;

async function measure(folder: string): Promise<object> {
  await using app = await openApp(folder);
  const { page } = app;
  const tableAddress = `#/history/${largeRun}?view=episodes`;
  const historyMs = await openingMs(page, '#/history', 'Runs');
  const tableMs = await openingMs(page, tableAddress, 'Episodes');
  const wholeText = `${episodes.toLocaleString('en')} episodes`;
  const startedMs = performance.now();
  await page.getByTestId('row-count').getByText(wholeText, { exact: true }).waitFor({ timeout: 120_000 });
  await page.waitForTimeout(1000);
  const table = await scrolling(app, 'Episodes');
  await page.evaluate(() => (location.hash = '#/history'));
  await page.locator(firstRow('Runs')).waitFor();
  const history = await scrolling(app, 'Runs');
  console.log(`table of ${episodes} episodes, first rows drawn   ${listed(tableMs)}`);
  console.log(`history of ${runs} runs, first rows drawn        ${listed(historyMs)}`);
  for (const [name, windows] of Object.entries({ table, history }))
    console.log(
      `${name}: scrolling ${dropped(windows.scrolling)}, ${cpu(windows.scrolling)}; the same rows without script ${dropped(windows.bare)}; idle ${dropped(windows.idle)}`,
    );
  return { historyMs, tableMs, allRowsAfterMs: performance.now() - startedMs, table, history };
}

const folder = keptFolder ?? (await mkdtemp(path.join(os.tmpdir(), 'interface-bench-')));
try {
  const startedMs = performance.now();
  if (!existsSync(path.join(folder, 'agentcanvas.json'))) await prepare(folder);
  console.log(`prepared in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  saveResult('interface', { episodes, runs, loadAverage: os.loadavg(), ...(await measure(folder)) });
} finally {
  if (keptFolder === undefined) await rm(folder, { recursive: true, force: true });
}
