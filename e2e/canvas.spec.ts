// The canvas: an agent drawn from nothing, played, saved, evaluated and looked at; stepping; what survives.
import type { Page } from '@playwright/test';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { canvasNode as node, openGraph, playStatus as status, wireHandle as handle } from './canvas-steps.ts';
import { expect, test } from './app.ts';
import { askForFirst, expectStatus, inspect, showPage, startRun } from './steps.ts';
/** Draws a wire with the mouse. */
async function draw(page: Page, from: string, to: string): Promise<void> {
  await handle(page, from, 'source').hover({ force: true });
  await page.mouse.down();
  const target = await handle(page, to, 'target').boundingBox();
  if (!target) throw new Error(`no handle ${to}`);
  const [x, y] = [target.x + target.width / 2, target.y + target.height / 2];
  await page.mouse.move(x - 12, y - 3, { steps: 4 });
  await page.mouse.move(x, y, { steps: 3 });
  await page.mouse.up();
}

/** Adds by the search field and Enter. */
async function add(page: Page, title: string, count: number): Promise<void> {
  const search = page.getByRole('searchbox', { name: 'Search nodes to add' });
  await search.fill(title);
  await search.press('Enter');
  await expect(page.locator('.react-flow__node')).toHaveCount(count);
}

test('an agent is drawn from nothing, played to the end, saved, evaluated, and an episode of it looked at', async ({
  app: { page },
}) => {
  test.slow(); // Some eighty steps of the mouse.
  await showPage(page, 'Canvas');
  await page.getByRole('link', { name: 'New graph' }).click();
  await add(page, 'MiniVLN start', 1);
  await add(page, 'Loop', 3);
  await add(page, 'Random policy', 4);
  await add(page, 'MiniVLN step', 5);
  await add(page, 'MiniVLN evaluate', 6);
  await add(page, 'Graph output', 7);
  await page.locator('.react-flow__pane').click({ position: { x: 20, y: 20 } });
  await page.keyboard.press('l');
  await expect(page.getByRole('button', { name: 'Undo' })).toBeEnabled();
  await page.waitForTimeout(1500);
  await page.keyboard.press('b');
  await page.keyboard.press('f');
  await page.waitForTimeout(300);

  await draw(page, 'observe.rgb', 'loop_in.+');
  await draw(page, 'random.action', 'step.action');
  await draw(page, 'step.rgb', 'loop_out.+');
  await draw(page, 'loop_in.init_rgb', 'random.observation');
  await draw(page, 'loop_in.iterout_rgb', 'random.observation');
  await draw(page, 'loop_out.final_stop', 'evaluate.trigger');
  await draw(page, 'evaluate.metrics', 'graph_out.value');
  await expect(page.locator('.react-flow__edge')).toHaveCount(7);
  await draw(page, 'step.rgb', 'loop_out.stop');
  await expect(page.getByRole('alert')).toContainText('IMAGE cannot enter a port of type BOOL');
  await expect(page.locator('.react-flow__edge')).toHaveCount(7);

  await page.keyboard.press('b');
  await node(page, 'loop_out').click();
  await page.getByLabel('Wire to stop from').selectOption({ label: 'MiniVLN step · done' });
  await node(page, 'graph_out').click();
  await page.getByLabel('Port name', { exact: true }).fill('metrics');
  await expect(page.getByText('No errors or warnings')).toBeVisible();
  await page.locator('.react-flow__pane').click({ position: { x: 20, y: 20 } });
  await page.keyboard.press('l');
  await page.waitForTimeout(800);
  await inspect(page, 'canvas-drawn');

  await page.getByRole('textbox', { name: 'Step budget' }).first().fill('30');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect(status(page)).toContainText('Completed', { timeout: 40_000 });
  await expect(status(page)).toContainText('success');
  await expect(node(page, 'step')).toContainText('×');

  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('hand drawn');
  await page.getByRole('button', { name: 'Save', exact: true }).last().click();
  await expect(page).toHaveURL(/hand\+?(%20)?.?drawn/);
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'More about this graph' }).click();
  await page.getByRole('menuitem', { name: 'Evaluate this graph' }).click();
  // What random walking does not reach in 30 steps fails, and failures are recorded.
  await page.getByRole('textbox', { name: 'Step budget', exact: true }).fill('30');
  await askForFirst(page, 3);
  const runId = await startRun(page);
  await expectStatus(page, 'completed');

  await page.getByRole('tab', { name: /Episodes/ }).click();
  await page.getByRole('grid', { name: 'Episodes' }).getByRole('row').nth(1).click();
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Open on the canvas' }).click();
  await expect(page).toHaveURL(new RegExp(`#/canvas/${runId}\\?episode=\\d`));
  const firing = page.getByTestId('firing');
  await expect(firing).toContainText(/Firing 1 of \d/);
  await expect(node(page, 'observe').locator('.node.firing')).toBeVisible();
  await page.keyboard.press('n');
  await expect(firing).toContainText(/Firing 2 of \d/);
  await expect(node(page, 'observe').locator('.node.fired')).toBeVisible();
  await page.keyboard.press('End');
  await expect(page).toHaveURL(/step=\d/);
  await node(page, 'step').click();
  await expect(page.getByRole('region', { name: 'Last firing' })).toContainText('Received');
  const [address, place] = [page.url(), await page.locator('.step-count').innerText()];
  await page.reload();
  await expect(page.locator('.step-count')).toHaveText(place);
  expect(page.url()).toBe(address);
});

test('stepping shows every firing, ends as an uninterrupted Play does, and guards the engine', async ({
  app: { page },
}) => {
  await openGraph(page, 'minivln_random');
  await page.getByRole('textbox', { name: 'Step budget' }).first().fill('8');
  await page.getByRole('textbox', { name: 'Seed' }).fill('5');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect(status(page)).toContainText('Completed', { timeout: 40_000 });
  // Viewers are read on their own, at most twenty times a second: they follow the status.
  await expect(node(page, 'metrics_view')).toContainText('steps_taken');
  const shownScores = async (): Promise<string> =>
    (await node(page, 'metrics_view').innerText()).split('\n').slice(-12).join('\n');
  const scores = await shownScores();

  await page.getByRole('button', { name: 'Step one firing' }).click();
  await expect(status(page)).toContainText('1 firing', { timeout: 20_000 });
  await page.keyboard.press('n');
  await expect(status(page)).toContainText('2 firings');
  await page.keyboard.press('Shift+N');
  await expect(status(page)).toContainText('Step 1 of 8');
  await expect(node(page, 'camera_view').getByRole('img').first()).toBeVisible();
  await node(page, 'step').click();
  await expect(page.getByRole('region', { name: 'Last firing' })).toContainText('Received');
  await inspect(page, 'canvas-stepping');

  await showPage(page, 'Evaluate');
  await expect(page.getByRole('button', { name: 'Add to queue' })).toBeVisible();
  await expect(page.getByText('The canvas plays minivln_random')).toBeVisible();
  await openGraph(page, 'minivln_random');
  await expect(status(page)).toContainText('Paused');
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await expect(status(page)).toContainText('Completed', { timeout: 40_000 });
  await expect.poll(shownScores).toBe(scores);
});

test('Play waits while a batch runs and names it; the environment panel chooses an episode', async ({
  app: { page },
}) => {
  await showPage(page, 'Evaluate');
  await page.getByRole('link', { name: /^minivln_random / }).click();
  await askForFirst(page, 200);
  const runId = await startRun(page);
  await openGraph(page, 'minivln_random');
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeDisabled();
  const link = page.getByRole('toolbar', { name: 'Play' }).getByRole('link');
  await expect(page.getByRole('toolbar', { name: 'Play' })).toContainText('is executing');
  await link.click();
  await expect(page).toHaveURL(new RegExp(runId));
  await page.getByRole('button', { name: /^Stop/ }).click();
  await expectStatus(page, 'paused');

  await openGraph(page, 'minivln_random');
  await page.getByRole('tab', { name: /Environment/ }).click();
  await page.getByRole('button', { name: 'Load environment' }).click();
  const panel = page.getByRole('region', { name: 'Environment minivln' });
  await panel.getByLabel('Split').selectOption('val_seen');
  await panel.getByLabel('Episode', { exact: true }).fill('12');
  await panel.getByLabel('Episode', { exact: true }).press('Enter');
  await expect(panel).toContainText('vs_000012');
  await inspect(page, 'canvas-environment');
});

test('what was not saved is back after the page was killed, and saving keeps the rest of the file', async ({
  app: { page, workspace, openAnother },
}) => {
  const graphs = path.join(workspace, 'graphs');
  await mkdir(graphs, { recursive: true });
  const file = path.join(graphs, 'mine.json');
  const text =
    '{ "name": "mine", "future_field": 9007199254740993,\n  "nodes": [\n    {"id": "a", "type": "nullSource", "label": "A", "position": {"x": 1.0, "y": 0}, "config": {}}\n  ], "edges": []}\n';
  await writeFile(file, text);
  await openGraph(page, 'mine');
  await node(page, 'a').click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('First value');
  await expect(page.getByText('● Not saved')).toBeVisible();
  await page.waitForTimeout(700);
  const crashed = page.waitForEvent('crash');
  // The navigation of a page that has crashed may never end.
  void page.goto('chrome://crash').catch(() => undefined);
  await crashed;

  const second = await openAnother();
  await openGraph(second, 'mine');
  await expect(second.getByText(/not saved are back/)).toBeVisible();
  await expect(node(second, 'a')).toContainText('First value');
  expect(await readFile(file, 'utf8')).toBe(text);
  await second.keyboard.press('ControlOrMeta+s');
  await expect(second.getByText('Saved', { exact: true })).toBeVisible();
  expect(await readFile(file, 'utf8')).toBe(text.replace('"label": "A"', '"label": "First value"'));
  await writeFile(file, text);
  await second.locator('.react-flow__pane').click({ position: { x: 20, y: 20 } });
  await second.getByRole('textbox', { name: 'Description' }).fill('changed here');
  await second.keyboard.press('ControlOrMeta+s');
  await expect(second.getByRole('alert')).toContainText('changed by somebody else');
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('nodes are grouped, opened, copied to another graph and taken back with undo', async ({
  app: { page },
}) => {
  await openGraph(page, 'minivln_random');
  await node(page, 'evaluate').click();
  await node(page, 'map').click({ modifiers: ['ControlOrMeta'] });
  await page.keyboard.press('ControlOrMeta+g');
  await expect(node(page, 'composite')).toBeVisible();
  await node(page, 'composite').dblclick();
  await expect(node(page, 'evaluate')).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Levels' })).toContainText('Composite');
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('ControlOrMeta+z');
  await expect(node(page, 'evaluate')).toBeVisible();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();

  await node(page, 'policy').click();
  await page.keyboard.press('ControlOrMeta+c');
  await showPage(page, 'Canvas');
  await page.getByRole('link', { name: 'New graph' }).click();
  await expect(page.locator('.react-flow__pane')).toBeVisible();
  await page.locator('.react-flow__pane').click({ position: { x: 200, y: 200 } });
  await page.keyboard.press('ControlOrMeta+v');
  await expect(node(page, 'policy')).toContainText('Random policy');
  await page.keyboard.press('ControlOrMeta+f');
  await page.getByRole('textbox', { name: 'Find in the graph' }).fill('random');
  await page.keyboard.press('Enter');
  await expect(node(page, 'policy')).toHaveClass(/selected/);
});
