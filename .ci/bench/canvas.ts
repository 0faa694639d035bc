// How the canvas behaves with a large graph, in headless Chromium: time from the click to a graph of 500 nodes that can
// be used, frames per second while one node is dragged and while the view is panned. Beside it the drawing library alone
// with as many bare boxes and wires: the ratio of the two holds on a machine that others load, too.
/// <reference lib="dom" />
import { chromium, type Browser, type Page } from '@playwright/test';
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ensureBrowser } from '../browser.mjs';
import { median, root, saveResult } from './harness.ts';

const moveCount = 60;
const nodeCount = Number(process.env['CANVAS_BENCH_NODES'] ?? 500);

interface Drawn {
  readonly nodes: readonly {
    readonly id: string;
    readonly position: { readonly x: number; readonly y: number };
  }[];
  readonly edges: readonly { readonly id: string; readonly source: string; readonly target: string }[];
}

/** Chains side by side, as many wires as nodes and more. */
function largeDrawing(count: number): Drawn {
  const columns = 25;
  const nodes = Array.from({ length: count }, (_item, index) => ({
    id: `n${index}`,
    position: { x: (index % columns) * 300, y: Math.floor(index / columns) * 170 },
  }));
  const edges = nodes.flatMap(({ id }, index) => {
    const wire = (to: number): Drawn['edges'] =>
      to < count && to % columns !== 0 ? [{ id: `e${index}-${to}`, source: id, target: `n${to}` }] : [];
    return [...wire(index + 1), ...(index % 3 === 0 ? wire(index + 2) : [])];
  });
  return { nodes, edges };
}

function largeGraph({ nodes, edges }: Drawn): string {
  return JSON.stringify({
    name: 'large',
    eval_graph: false,
    nodes: nodes.map((node, index) => ({ ...node, type: 'textParse', label: `Parse ${index}`, config: {} })),
    edges: edges.map((edge) => ({ ...edge, sourceHandle: 'value', targetHandle: 'text' })),
    containers: [],
    access_grants: [],
  });
}

/** The library with the same drawing and nothing of ours. */
async function openControl(browser: Browser, { nodes, edges }: Drawn): Promise<Page> {
  const boxes = nodes.map((node, index) => ({
    ...node,
    data: { label: `Parse ${index}` },
    style: { width: 212, height: 61 },
  }));
  const contents = `
    import { createElement } from 'react';
    import { createRoot } from 'react-dom/client';
    import { ReactFlow, Controls } from '@xyflow/react';
    import '@xyflow/react/dist/style.css';
    createRoot(document.body.firstElementChild).render(
      createElement(ReactFlow, {
        defaultNodes: ${JSON.stringify(boxes)}, defaultEdges: ${JSON.stringify(edges)},
        fitView: true, minZoom: 0.05, fitViewOptions: { padding: 0.12 }, children: createElement(Controls),
      }));`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'js' },
    bundle: true,
    write: false,
    outdir: 'control',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path: name }) => name.endsWith(ending))?.text ?? '';
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  // As large as the drawing of the app between its panels.
  await page.setContent('<div class="flow" style="width:620px;height:640px"></div>');
  await page.addStyleTag({ content: textOf('.css') });
  await page.addScriptTag({ content: textOf('.js') });
  await page.locator('.react-flow__node').first().waitFor();
  return page;
}

interface Frames {
  /** Time of the page's main thread per move of the pointer, measured by its own clock: others on the machine do not count. */
  readonly threadMsPerMove: number;
  readonly perSecond: number;
  readonly worstMs: number;
  readonly p95Ms: number;
}

/** Frames drawn while the work goes on, and what it cost the page's main thread. */
async function framesDuring(page: Page, work: () => Promise<void>): Promise<Frames> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busySeconds = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
  await page.evaluate(() => {
    const target = window as unknown as { frames: number[]; counting: boolean };
    target.frames = [];
    target.counting = true;
    const count = (atMs: number): void => {
      target.frames.push(atMs);
      if (target.counting) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  const before = await busySeconds();
  await work();
  const threadMsPerMove = (((await busySeconds()) - before) * 1000) / moveCount;
  await session.detach();
  const times = await page.evaluate(() => {
    const target = window as unknown as { frames: number[]; counting: boolean };
    target.counting = false;
    return target.frames;
  });
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs));
  const sorted = gaps.toSorted((a, b) => a - b);
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return {
    threadMsPerMove,
    perSecond: (gaps.length / span) * 1000,
    worstMs: sorted.at(-1) ?? 0,
    p95Ms: sorted[Math.floor(sorted.length * 0.95)] ?? 0,
  };
}

/** From the click on the graph in the list until its nodes are drawn and a node answers a click. */
async function openMs(page: Page): Promise<number> {
  await page.evaluate(() => (location.hash = '#/canvas'));
  await page.getByRole('link', { name: /^large / }).waitFor();
  return await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const startedMs = performance.now();
        const look = (): void => {
          const node = document.querySelector<HTMLElement>('.react-flow__node');
          if (!node || getComputedStyle(node).visibility === 'hidden')
            return void requestAnimationFrame(look);
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedMs)));
        };
        [...document.querySelectorAll('a')].find((link) => link.textContent?.startsWith('large'))?.click();
        look();
      }),
  );
}

async function drag(page: Page, from: { x: number; y: number }, moves: number): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let move = 1; move <= moves; move++) {
    await page.mouse.move(from.x + Math.sin(move / 8) * 120, from.y + Math.cos(move / 8) * 60);
  }
  await page.mouse.up();
}

const rounds = 3;
/** Clicks on Zoom In: from the whole graph to one where ports can be seen. */
const zoomSteps = 5;

interface Opened {
  readonly cold: number;
  readonly warm: readonly number[];
}

async function measureOpening(page: Page): Promise<Opened> {
  const cold = await openMs(page);
  const warm: number[] = [];
  for (let round = 0; round < 5; round++) warm.push(await openMs(page));
  return { cold, warm };
}

interface Moved {
  readonly dragging: Frames;
  readonly panning: Frames;
}

interface Round {
  readonly whole: Moved;
  readonly near: Moved;
}

async function measureMoves(page: Page): Promise<Round> {
  await page.bringToFront();
  await page.locator('.react-flow__controls-fitview').click();
  await page.waitForTimeout(500);
  const whole = await dragAndPan(page);
  for (let step = 0; step < zoomSteps; step++) await page.locator('.react-flow__controls-zoomin').click();
  await page.waitForTimeout(500);
  return { whole, near: await dragAndPan(page) };
}

/** Medians over the rounds. */
function middle(all: readonly Round[]): Record<string, Record<string, number>> {
  const of = (choose: (round: Round) => Frames): Record<string, number> => {
    const frames = all.map(choose);
    const one = (key: keyof Frames): number => Math.round(median(frames.map((each) => each[key])) * 10) / 10;
    return {
      threadMsPerMove: one('threadMsPerMove'),
      perSecond: one('perSecond'),
      p95Ms: one('p95Ms'),
      worstMs: one('worstMs'),
    };
  };
  return {
    dragWhole: of(({ whole }) => whole.dragging),
    panWhole: of(({ whole }) => whole.panning),
    dragNear: of(({ near }) => near.dragging),
    panNear: of(({ near }) => near.panning),
  };
}

async function dragAndPan(page: Page): Promise<Moved> {
  const flow = await page.locator('.flow').boundingBox();
  const middle = { x: (flow?.x ?? 0) + (flow?.width ?? 0) / 2, y: (flow?.y ?? 0) + (flow?.height ?? 0) / 2 };
  const boxes = await page.locator('.react-flow__node').evaluateAll((nodes) =>
    nodes.map((node) => {
      const { x, y, width, height } = node.getBoundingClientRect();
      return { x, y, width, height };
    }),
  );
  const nearest = boxes.toSorted(
    (one, other) =>
      Math.hypot(one.x - middle.x, one.y - middle.y) - Math.hypot(other.x - middle.x, other.y - middle.y),
  )[0];
  if (!nearest) throw new Error('no node to drag');
  const grip = { x: nearest.x + nearest.width / 2, y: nearest.y + Math.min(6, nearest.height / 4) };
  const dragging = await framesDuring(page, () => drag(page, grip, moveCount));
  const pane = { x: (flow?.x ?? 0) + 8, y: (flow?.y ?? 0) + 8 };
  const panning = await framesDuring(page, () => drag(page, pane, moveCount));
  return { dragging, panning };
}

const workspace = mkdtempSync(path.join(os.tmpdir(), 'canvas-bench-'));
mkdirSync(path.join(workspace, 'graphs'), { recursive: true });
const drawing = largeDrawing(nodeCount);
writeFileSync(path.join(workspace, 'graphs', 'large.json'), largeGraph(drawing));
const server = spawn(
  process.execPath,
  [path.join(root, 'dist/engine/cli.mjs'), 'serve', '--json', '--workspace', workspace],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
let address = '';
for await (const line of createInterface({ input: server.stdout })) {
  const event = JSON.parse(line) as { event?: string; address?: string };
  if (event.event !== 'serving' || !event.address) continue;
  address = event.address;
  break;
}
const executablePath = await ensureBrowser();
const browser = await chromium.launch({
  executablePath,
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(address);
await page.getByText('Connected').waitFor();
const opening = await measureOpening(page);
const control = await openControl(browser, drawing);
const app: Round[] = [];
const bare: Round[] = [];
for (let round = 0; round < rounds; round++) {
  app.push(await measureMoves(page));
  bare.push(await measureMoves(control));
}
const result = {
  nodes: nodeCount,
  wires: drawing.edges.length,
  loadAverage: os.loadavg()[0],
  openMs: { cold: opening.cold, warm: median(opening.warm) },
  app: middle(app),
  libraryAlone: middle(bare),
};
console.log(JSON.stringify(result, null, 2));
saveResult('canvas', result);
await browser.close();
server.kill('SIGTERM');
if (server.exitCode === null) await once(server, 'exit');
rmSync(workspace, { recursive: true, force: true });
