// The main job: choose, start, watch, find it again tomorrow. What cannot start says why where it would be started.
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { addFragile, expect, test } from './app.ts';
import {
  askForFirst,
  askForFragile,
  chooseGraph,
  expectStatus,
  inspect,
  showPage,
  startButton,
  startPanel,
  startRun,
} from './steps.ts';

test('from the first start to a finished run, found in History and opened again', async ({
  app: { page },
}) => {
  await expect(page.getByRole('heading', { name: 'minivln_cma', level: 2 })).toBeVisible();
  await expect(page.getByRole('definition').filter({ hasText: 'val_unseen 1,839' })).toBeVisible({
    timeout: 60_000,
  });
  await askForFirst(page, 3);
  await expect(page.getByRole('group', { name: 'Command' })).toContainText(
    'minivln_cma --split val_unseen --episodes 3',
  );
  await inspect(page, 'evaluate');
  const runId = await startRun(page);
  await expectStatus(page, 'completed');
  const success = page
    .getByRole('region', { name: 'Metrics' })
    .getByRole('listitem')
    .filter({ hasText: /^success/ });
  await expect(success).toContainText('n = 3');
  await expect(success).toContainText('%');
  await inspect(page, 'run');
  await page.getByRole('tab', { name: /Episodes/ }).click();
  await expect(page.getByRole('grid', { name: 'Episodes' })).toHaveAttribute('aria-rowcount', '4');
  await inspect(page, 'episodes');
  await showPage(page, 'History');
  const line = page.getByRole('grid', { name: 'Runs' }).getByRole('row').filter({ hasText: 'minivln_cma' });
  await expect(line).toContainText('3 / 3');
  await expect(line).toContainText('%');
  await inspect(page, 'history');
  await line.getByRole('link').first().click();
  await expect(page).toHaveURL(new RegExp(runId));
  await expectStatus(page, 'completed');
});

test('what keeps a graph from running is said before the start', async ({ app: { page, workspace } }) => {
  await mkdir(path.join(workspace, 'graphs'), { recursive: true });
  const graph = { name: 'bad', nodes: [{ id: 'a', type: 'initialize', label: 'Start' }], edges: [] };
  await writeFile(path.join(workspace, 'graphs', 'bad.json'), JSON.stringify(graph));
  await page.reload();
  await chooseGraph(page, 'bad');
  await expect(page.getByText('The graph cannot run as it is.')).toBeVisible();
  await expect(startButton(page)).toBeDisabled();
});

test('code of a folder nobody trusts runs only after it was trusted', async ({
  app: { page, workspace },
}) => {
  await addFragile(workspace);
  await page.reload();
  await chooseGraph(page, 'fragile');
  await expect(page.getByText(/^No nodeset is called fragile/)).toBeVisible();
  await page.getByRole('button', { name: 'Look again', exact: true }).click();
  const refusal = page.getByRole('alert').filter({ hasText: 'The graph could not be looked into.' });
  await expect(refusal).toContainText('lies in a folder that is not trusted');
  await expect(refusal).toContainText('Would run:');
  // Its content only: an edit asks again, and then the folder is trusted.
  await refusal.getByRole('button', { name: 'Trust this content only', exact: true }).click();
  await askForFragile(page, 'calm', 1);
  await startRun(page);
  await expectStatus(page, 'completed');
  await appendFile(path.join(workspace, 'nodesets', 'fragile.ts'), '\n');
  await showPage(page, 'Evaluate');
  await chooseGraph(page, 'fragile');
  await expect(refusal).toContainText('lies in a folder that is not trusted');
  await refusal.getByRole('button', { name: /^Trust .*nodesets/ }).click();
  await askForFragile(page, 'calm', 2);
  await startRun(page);
  await expectStatus(page, 'completed');
});

test('a number that is none is marked at its field, and nothing can be started with it', async ({
  app: { page },
}) => {
  await chooseGraph(page, 'minivln_random');
  await askForFirst(page, 2);
  const budget = page.getByRole('textbox', { name: 'Step budget', exact: true });
  await budget.fill('many');
  await expect(budget).toHaveAttribute('aria-invalid', 'true');
  await expect(startPanel(page)).toContainText('The form has a mistake');
  await expect(startButton(page)).toBeDisabled();
  await budget.fill('5');
  await expect(startButton(page)).toBeEnabled();
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
