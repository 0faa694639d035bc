// What is kept: rename, tags, delete with a question, export, interrupted runs.
import { readFile } from 'node:fs/promises';
import { expect, test } from './app.ts';
import { showPage } from './steps.ts';

test('a run is renamed, exported and deleted after a question', async ({ app: { page, cli } }) => {
  const made = await cli('eval', 'minivln_expert', '--split', 'val_seen', '--episodes', '3', '--json');
  expect(made.code).toBe(0);
  await showPage(page, 'History');
  const grid = page.getByRole('grid', { name: 'Runs' });
  await expect(grid.getByRole('row')).toHaveCount(2);
  await grid.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: /Rename/ }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Baseline');
  await page.getByRole('dialog').getByRole('button', { name: /Save/ }).click();
  await expect(grid).toContainText('Baseline');
  await grid.getByRole('button', { name: /^Actions for/ }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: /CSV/ }).click(),
  ]);
  const text = await readFile(await download.path(), 'utf8');
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toHaveLength(4);
  await grid.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: /Delete/ }).click();
  const question = page.getByRole('alertdialog');
  await question.getByRole('button', { name: /Keep|Cancel/ }).click();
  await expect(grid).toContainText('Baseline');
  await grid.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: /Delete/ }).click();
  await question.getByRole('button', { name: /^(Delete|Move)/ }).click();
  await expect(page.getByText('Baseline')).toHaveCount(0);
  const listed = await cli('runs', 'list');
  expect(listed.stdout).toContain('No runs yet');
});

test('a run started on the command line shows here as it goes', async ({ app: { page, cli } }) => {
  await showPage(page, 'History');
  const running = cli(
    'eval',
    'minivln_random',
    '--split',
    'train',
    '--episodes',
    '40',
    '--tag',
    'shell',
    '--json',
  );
  await expect(page.getByRole('grid', { name: 'Runs' })).toContainText('shell', { timeout: 20_000 });
  expect((await running).code).toBe(0);
  await expect(page.getByRole('grid', { name: 'Runs' })).toContainText('40 / 40');
});
