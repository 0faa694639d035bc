// Runs on the canvas: an episode replayed on the graph, from every page that shows one; composites in the address; what a
// canvas costs that nobody looks at.
import type { Page } from '@playwright/test';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { canvasNode as node, openGraph, playStatus } from './canvas-steps.ts';
import { expect, test } from './app.ts';
import { inspect, showPage } from './steps.ts';

const firing = (page: Page) => page.getByTestId('firing');

test('an episode is replayed on its graph, firing by firing, with values, viewers and a link to each step', async ({
  app: { page, cli },
}) => {
  const command = 'eval minivln_random --episodes 2 --workers 1 --step-budget 12 --record all --json';
  const made = await cli(...command.split(' '));
  expect(made.code, made.stderr).toBe(0);
  const runId = /"run_id":"([^"]+)"/.exec(made.stdout)?.[1] ?? '';
  await page.goto(page.url().replace(/#.*/, `#/replay/${runId}?episode=1`));
  await page.getByRole('link', { name: 'Open on the canvas' }).click();
  await expect(page).toHaveURL(new RegExp(`#/canvas/${runId}\\?episode=1`));
  await expect(firing(page)).toContainText(/Firing \d+ of \d/);
  await page.keyboard.press('Home');
  await expect(page.locator('.step-count')).toHaveText(/Step\s+0 /);

  // In the order of the log: what fired is marked, what the cursor is at is bold, the rest is quiet.
  await page.goto(page.url().replace(/#.*/, `#/canvas/${runId}?episode=1&step=3`));
  await expect(page.locator('.step-count')).toHaveText(/Step\s+3 /);
  await expect(firing(page)).toContainText(/Firing (\d+) of \1/);
  await expect(page.locator('.node.firing')).toHaveCount(1);
  await expect(node(page, 'camera_view').getByRole('img').first()).toBeVisible();
  const fired = await page.locator('.node.fired').count();
  await page.getByRole('button', { name: 'One firing back' }).click();
  await expect(page.locator('.node.fired')).toHaveCount(fired - 1);
  await inspect(page, 'canvas-episode');

  await page.locator('.react-flow__edge[data-id]').first().hover({ force: true });
  await expect(page.locator('.wire-value')).toContainText(/iteration \d|No value/);
  await node(page, 'step').click();
  const values = page.getByRole('region', { name: 'Last firing' });
  await expect(values).toContainText('Received');
  await expect(values).toContainText('Iteration 4');
  // A node that fired long before this step still tells what it gave.
  await node(page, 'start').click();
  await expect(values).toContainText('Iteration 1 ');
  await values.getByText('Gave', { exact: true }).click();
  await expect(values.getByRole('img').first()).toBeVisible();

  await page.getByRole('combobox', { name: 'Speed' }).selectOption('64');
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await expect(page.getByRole('button', { name: 'One firing forward' })).toBeDisabled();
  await expect(node(page, 'metrics_view')).toContainText('success');
  await page.keyboard.press('Home');
  await expect(page).toHaveURL(/step=0/);

  await showPage(page, 'History');
  await page.goto(page.url().replace(/#.*/, `#/history/${runId}?view=episodes&episode=0`));
  await page.getByRole('link', { name: 'Open on the canvas' }).click();
  await expect(page).toHaveURL(new RegExp(`#/canvas/${runId}\\?episode=0`));
  await page.getByRole('link', { name: 'Edit minivln_random' }).click();
  await expect(
    playStatus(page)
      .or(page.getByRole('toolbar', { name: 'Play' }))
      .first(),
  ).toBeVisible();
});

test('an episode that was not recorded shows its graph and says so; a run that is not there is said', async ({
  app: { page, cli },
}) => {
  const command = 'eval minivln_expert --episodes 1 --workers 1 --record none --json';
  const made = await cli(...command.split(' '));
  const runId = /"run_id":"([^"]+)"/.exec(made.stdout)?.[1] ?? '';
  await page.goto(page.url().replace(/#.*/, `#/canvas/${runId}?episode=0`));
  await expect(page.locator('.react-flow__node').first()).toBeVisible();
  await expect(page.getByText('Nothing of this episode was recorded')).toBeVisible();
  await page.getByRole('link', { name: 'How to record it' }).click();
  await expect(page.getByText('This episode has no recording')).toBeVisible();
  await page.goto(page.url().replace(/#.*/, '#/canvas/no-such-run?episode=0'));
  await expect(page.getByText('The graph of the run could not be read.')).toBeVisible();
});

test('the open composite is part of the address; the rail leads to the graph that plays', async ({
  app: { page, workspace },
}) => {
  const graphs = path.join(workspace, 'graphs');
  await mkdir(graphs, { recursive: true });
  await writeFile(path.join(graphs, 'nested.json'), nestedGraph());
  await openGraph(page, 'nested');
  await node(page, 'outer').dblclick();
  await expect(node(page, 'inner')).toBeVisible();
  await node(page, 'inner').dblclick();
  await expect(node(page, 'parse')).toBeVisible();
  await expect(page).toHaveURL(/level=outer%2Finner/);
  await page.reload();
  await expect(node(page, 'parse')).toBeVisible();
  await page.goBack();
  await expect(node(page, 'inner')).toBeVisible();
  await expect(page).toHaveURL(/level=outer(&|$)/);
  await page.keyboard.press('Alt+ArrowUp');
  await expect(node(page, 'outer')).toBeVisible();
  expect(page.url()).not.toContain('level');

  await openGraph(page, 'minivln_random');
  await page.getByRole('button', { name: 'Step one firing' }).click();
  await expect(playStatus(page)).toContainText('1 firing', { timeout: 40_000 });
  const address = page.url();
  await showPage(page, 'History');
  await page.getByRole('link', { name: /Canvas plays minivln_random/ }).click();
  await expect(page).toHaveURL(address);
  await expect(playStatus(page)).toContainText('Paused');
});

test('while nobody looks at the canvas it asks for no values and draws nothing', async ({
  app: { page, workspace },
}) => {
  const graphs = path.join(workspace, 'graphs');
  await mkdir(graphs, { recursive: true });
  await writeFile(path.join(graphs, 'ticking.json'), tickingGraph());
  const asked: string[] = [];
  page.on('request', (request) => {
    const name = request.url().split('/').at(-1) ?? '';
    if (request.method() === 'POST') asked.push(`${name} ${request.postData() ?? ''}`);
  });
  const viewersAsked = (): number => asked.filter((text) => text.includes('play.viewers')).length;
  await openGraph(page, 'ticking');
  await page.getByRole('combobox', { name: 'Delay after each iteration' }).selectOption({ label: '0.1 s' });
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect(node(page, 'log').getByRole('listitem').nth(3)).toBeVisible();
  expect(viewersAsked()).toBeGreaterThan(0);

  const session = await page.context().newCDPSession(page);
  await hide(page, true);
  await page.waitForTimeout(300);
  const before = viewersAsked();
  await page.waitForTimeout(1500);
  expect(viewersAsked()).toBe(before);
  await hide(page, false);
  await expect.poll(viewersAsked).toBeGreaterThan(before);

  // Another page is shown: the canvas is gone, and events about Play change nothing on the page.
  await showPage(page, 'Settings');
  await page.waitForTimeout(300);
  const left = viewersAsked();
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const layouts = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'LayoutCount')?.value ?? 0;
  };
  const laidOut = await layouts();
  await page.waitForTimeout(1500);
  expect(viewersAsked()).toBe(left);
  expect((await layouts()) - laidOut).toBeLessThan(5);
  await showPage(page, 'Canvas');
  await page.getByRole('link', { name: /^ticking / }).click();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(playStatus(page)).toContainText('Stopped');
});

/** As when another tab is in front: the browser itself offers no way to do it from outside. */
async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(
    (state) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
      document.dispatchEvent(new Event('visibilitychange'));
    },
    isHidden ? 'hidden' : 'visible',
  );
}

/** Counts for a long while; an action log shows every number. */
function tickingGraph(): string {
  const at = (x: number): object => ({ position: { x, y: 0 } });
  const wire = (id: string, source: string, target: string, handles: readonly [string, string]): object => ({
    id,
    source,
    target,
    sourceHandle: handles[0],
    targetHandle: handles[1],
  });
  return JSON.stringify({
    name: 'ticking',
    step_budget: 5000,
    eval_graph: false,
    nodes: [
      { id: 'seed', type: 'nullSource', ...at(0), config: { wire_type: 'TEXT' } },
      {
        id: 'in',
        type: 'iterIn',
        ...at(300),
        config: { pairedWith: 'out', initPorts: [{ name: 'text', wire_type: 'TEXT' }] },
      },
      { id: 'log', type: 'actionLog', ...at(600), config: {} },
      {
        id: 'out',
        type: 'iterOut',
        ...at(900),
        config: { pairedWith: 'in', ports: [{ name: 'step', wire_type: 'ANY' }] },
      },
    ],
    edges: [
      wire('1', 'seed', 'in', ['value', 'init_text']),
      wire('2', 'in', 'out', ['step', 'step']),
      wire('3', 'in', 'log', ['step', 'action']),
    ],
    containers: [],
    access_grants: [],
  });
}

/** A composite in a composite. */
function nestedGraph(): string {
  const level = (name: string, nodes: readonly object[]): object => ({
    name,
    description: '',
    nodes,
    edges: [],
    containers: [],
    access_grants: [],
    eval_graph: false,
  });
  const at = (x: number): object => ({ position: { x, y: 0 }, config: {} });
  const inner = level('inner', [{ id: 'parse', type: 'textParse', label: 'Parse', ...at(0) }]);
  const outer = level('outer', [
    { id: 'inner', type: 'compositeNode', label: 'Inner', ...at(0), subgraph: inner },
  ]);
  return JSON.stringify(
    level('nested', [{ id: 'outer', type: 'compositeNode', label: 'Outer', ...at(0), subgraph: outer }]),
  );
}
