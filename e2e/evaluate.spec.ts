// The main job: choose, start, watch, find it again tomorrow.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from './app.ts';
import { askForFirst, chooseGraph, expectStatus, inspect, showPage, startRun } from './steps.ts';

test('from the first start to a finished run, found in History and opened again', async ({
  app: { page },
}) => {
  await chooseGraph(page, 'minivln_expert');
  await expect(page.getByRole('definition').filter({ hasText: 'val_unseen 1,839' })).toBeVisible();
  await askForFirst(page, 6);
  await expect(page.getByRole('group', { name: 'Command' })).toContainText(
    'minivln_expert --split val_unseen --episodes 6',
  );
  await inspect(page, 'evaluate');
  const runId = await startRun(page);
  await expectStatus(page, 'completed');
  const metrics = page.getByRole('region', { name: 'Metrics' });
  await expect(metrics.getByRole('listitem').filter({ hasText: /^success/ })).toContainText('100.0');
  await expect(metrics.getByRole('listitem').filter({ hasText: /^success/ })).toContainText('n = 6');
  await inspect(page, 'run');
  await page.getByRole('tab', { name: /Episodes/ }).click();
  await expect(page.getByRole('grid', { name: 'Episodes' })).toHaveAttribute('aria-rowcount', '7');
  await inspect(page, 'episodes');
  await showPage(page, 'History');
  const line = page
    .getByRole('grid', { name: 'Runs' })
    .getByRole('row')
    .filter({ hasText: 'minivln_expert' });
  await expect(line).toContainText('6 / 6');
  await expect(line).toContainText('100.0 %');
  await inspect(page, 'history');
  await line.getByRole('link').first().click();
  await expect(page).toHaveURL(new RegExp(runId));
  await expectStatus(page, 'completed');
});

test('a run that is stopped is paused and resumes to exactly what is missing', async ({
  app: { page, cli },
}) => {
  await chooseGraph(page, 'minivln_random');
  await askForFirst(page, 120);
  const runId = await startRun(page);
  await expect(page.getByRole('table').getByRole('row')).toHaveCount(2);
  await expect(page.getByRole('region', { name: 'Progress' })).toContainText(/[1-9]\d* \/ 120/);
  await inspect(page, 'running');
  await page.getByRole('button', { name: /^Stop/ }).click();
  await expectStatus(page, 'paused');
  const paused = await cli('runs', 'show', runId, '--json');
  const { completed, notRun } = (
    JSON.parse(paused.stdout) as { summary: { counts: { completed: number; notRun: number } } }
  ).summary.counts;
  expect(completed).toBeGreaterThan(0);
  expect(completed + notRun).toBe(120);
  await page.getByRole('button', { name: /^Resume/ }).click();
  await expectStatus(page, 'completed');
  await expect(page.getByRole('region', { name: 'Progress' })).toContainText('120 / 120');
});

test('a page that is reloaded in the middle of a run keeps everything, and a second page sees the same', async ({
  app,
  faults,
}, info) => {
  const { page } = app;
  await chooseGraph(page, 'minivln_random');
  await askForFirst(page, 200);
  await startRun(page);
  await expect(page.getByRole('region', { name: 'Progress' })).toContainText(/[1-9]\d* \/ 200/);
  const address = page.url();
  await page.reload();
  expect(page.url()).toBe(address);
  await expect(page.getByRole('region', { name: 'Progress' })).toContainText(/[1-9]\d* \/ 200/);
  if (info.project.name === 'web') {
    const other = await app.openAnother();
    await expect(
      other.getByRole('complementary', { name: 'Start' }).getByRole('button', { name: 'Add to queue' }),
    ).toBeVisible();
    await other.close();
  }
  await expectStatus(page, 'completed');
  await expect(page.getByRole('region', { name: 'Progress' })).toContainText('200 / 200');
  expect(faults).toEqual([]);
});

test('while a run holds the engine a second one is queued, and runs when the first has ended', async ({
  app: { page },
}) => {
  await chooseGraph(page, 'minivln_random');
  await askForFirst(page, 150);
  await startRun(page);
  await showPage(page, 'Evaluate');
  if (page.url().includes('/evaluate/'))
    await page.goto(page.url().replace(/#.*/, '#/evaluate?graph=library%3Aminivln_expert'));
  await chooseGraph(page, 'minivln_expert');
  await askForFirst(page, 2);
  await page.getByRole('button', { name: 'Add to queue' }).click();
  await expectStatus(page, /queued|preparing|running|completed/);
  await expectStatus(page, 'completed');
  await showPage(page, 'History');
  await expect(page.getByRole('grid', { name: 'Runs' }).getByRole('row')).toHaveCount(3);
});

test('episodes are filtered, sorted, selected and run again', async ({ app: { page } }) => {
  await chooseGraph(page, 'minivln_random');
  await askForFirst(page, 30);
  await startRun(page);
  await expectStatus(page, 'completed');
  await page.getByRole('tab', { name: /Episodes/ }).click();
  const grid = page.getByRole('grid', { name: 'Episodes' });
  await expect(grid).toHaveAttribute('aria-rowcount', '31');
  await page.keyboard.press('/');
  await page.keyboard.type('steps_taken > 1000000');
  await page.keyboard.press('Enter');
  await expect(grid).toHaveAttribute('aria-rowcount', '1');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('success == 0');
  await page.keyboard.press('Enter');
  await expect(grid).toHaveAttribute('aria-rowcount', '31');
  await expect(page).toHaveURL(/filter=success/);
  await grid
    .getByRole('columnheader', { name: /^steps/i })
    .first()
    .getByRole('button')
    .click();
  await expect(page).toHaveURL(/sort=/);
  await grid.getByRole('row').nth(3).click();
  await expect(page).toHaveURL(/episode=/);
});

test('the error of a run that fails stands where it was started', async ({ app: { page, workspace } }) => {
  await mkdir(path.join(workspace, 'graphs'), { recursive: true });
  const graph = { name: 'bad', nodes: [{ id: 'a', type: 'initialize', label: 'Start' }], edges: [] };
  await writeFile(path.join(workspace, 'graphs', 'bad.json'), JSON.stringify(graph));
  await page.reload();
  await chooseGraph(page, 'bad');
  await expect(page.getByText('The graph cannot run as it is.')).toBeVisible();
  await expect(
    page.getByRole('complementary', { name: 'Start' }).getByRole('button', { name: 'Start', exact: true }),
  ).toBeDisabled();
});

test('a graph file that is chosen is taken in and shown, and nothing runs', async ({ app: { page } }) => {
  const text = JSON.stringify({ name: 'mine', nodes: [], edges: [] });
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'my agent.acgraph', mimeType: 'application/json', buffer: Buffer.from(text) });
  await expect(page.getByRole('heading', { name: 'my agent', level: 2 })).toBeVisible();
  await showPage(page, 'History');
  await expect(page.getByRole('grid', { name: 'Runs' })).toHaveAttribute('aria-rowcount', '1');
});
