// What an episode left behind, looked at: earlier attempts of one whose process died, depth in colours, the firings of a
// step on the graph with their values, and the log.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test, type App } from './app.ts';
import { inspect } from './steps.ts';

test.use({ hasFragile: true });

async function evaluate({ cli }: App, ...asked: readonly string[]): Promise<string> {
  const made = await cli('eval', ...asked, '--json');
  const last = JSON.parse(made.stdout.trim().split('\n').at(-1) ?? '{}') as { run_id?: string };
  expect(last.run_id, made.stderr).toBeTruthy();
  return last.run_id ?? '';
}

async function openReplay(page: Page, runId: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/replay/${runId}`);
  await expect(page.getByRole('heading', { name: 'Replay', level: 1 })).toBeVisible();
}

interface JournalRow {
  readonly ordinal: number;
  readonly attempt: number;
  readonly status: string;
  readonly recording: string;
}

test('an episode whose process died twice is looked at attempt by attempt, and its rows say it was kept', async ({
  app,
}) => {
  const { page, workspace } = app;
  const runId = await evaluate(app, 'fragile', '--split', 'exits', '--episodes', '5');
  const journal = await readFile(
    path.join(workspace, 'outputs', 'eval_runs', runId, 'episodes.jsonl'),
    'utf8',
  );
  const rows = [...journal.matchAll(/\{.*\}/g)].map(([text]) => JSON.parse(text) as JournalRow);
  const died = rows.filter(({ status }) => status === 'died');
  expect(died.map(({ ordinal, attempt, recording }) => [ordinal, attempt, recording])).toEqual([
    [3, 1, 'kept'],
    [3, 2, 'kept'],
  ]);
  await openReplay(page, runId);
  await page.getByRole('combobox', { name: 'Outcome' }).selectOption('died');
  const list = page.getByRole('grid', { name: 'Recorded episodes' });
  await expect(list.getByRole('row')).toHaveCount(2);
  await list.getByRole('row').nth(1).click();
  const attempt = page.getByRole('combobox', { name: 'Attempt of episode 3' });
  await expect(attempt).toHaveValue('2');
  await expect(page.getByText(/ended with exit code 7/).first()).toBeVisible();
  await attempt.selectOption('1');
  await expect(page).toHaveURL(/attempt=1/);
  await expect(attempt).toHaveValue('1');
  await expect(page.getByText(/ended with exit code 7/).first()).toBeVisible();
  await page.reload();
  await expect(attempt).toHaveValue('1');
  // The firing it died in is there, with what went in and why nothing came out.
  await page.getByTestId('step').waitFor();
  await page.keyboard.press('End');
  await expect(page.getByRole('region', { name: 'step', exact: true })).toContainText('Error');
});

test('depth has colours with their range, and the firings of a step are walked through on the graph', async ({
  app,
}) => {
  const { page } = app;
  const size = ['--split', 'val_seen', '--episodes', '1', '--record', 'all'];
  const runId = await evaluate(app, 'minivln_expert', ...size);
  await openReplay(page, runId);
  await page.getByRole('grid', { name: 'Recorded episodes' }).getByRole('row').nth(1).click();
  await page.getByRole('combobox', { name: /^Picture of/ }).selectOption({ label: 'step.depth (depth)' });
  await expect(page.getByText(/^near \d/)).toBeVisible();
  const picture = page.getByRole('img', { name: /^What was seen/ });
  await expect(picture).toHaveCSS('filter', /replay-depth-colours/);
  await inspect(page, 'replay-depth');
  const details = page.getByRole('complementary', { name: 'What the nodes did' });
  await details.getByText('Graph', { exact: true }).click();
  await expect(details.getByText(/^\d+ firings$/)).toBeVisible();
  await details.getByRole('button', { name: 'Next firing' }).click();
  await expect(details.getByText(/^firing 1 of \d+: /)).toBeVisible();
  await expect
    .poll(async () => {
      await details.getByRole('button', { name: 'Next firing' }).click({ timeout: 5000 });
      return details.getByText(/^firing \d+ of \d+: policy$/).count();
    })
    .toBe(1);
  await expect(details.getByRole('region', { name: 'policy', exact: true })).toContainText('action');
  await page.keyboard.press('ArrowRight');
  await expect(page.getByTestId('step')).toContainText(/^\s*1 \//);
  await expect(details.getByText(/^firing \d+ of \d+: policy/)).toBeVisible();
  await inspect(page, 'replay-graph');
  await details.getByText('Log', { exact: true }).click();
  await details.getByRole('combobox', { name: 'Node of the log' }).selectOption({ index: 1 });
  await expect(details.getByRole('region').first()).toBeVisible();
});

test('the step is part of the address: a reload stays on it, and the canvas shows the same one', async ({
  app,
}) => {
  const { page } = app;
  const runId = await evaluate(app, 'minivln_random', '--episodes', '2', '--record', 'all');
  await openReplay(page, runId);
  const list = page.getByRole('grid', { name: 'Recorded episodes' });
  await list.getByRole('row').nth(1).click();
  const step = page.getByTestId('step');
  await expect(step).toContainText(/^\s*0 \//);
  for (const count of [1, 2, 3]) {
    await page.getByRole('button', { name: 'One step forward', exact: true }).click();
    await expect(step).toContainText(new RegExp(`^\\s*${count} /`));
  }
  await expect(page).toHaveURL(/[?&]step=3/);
  await page.reload();
  await expect(step).toContainText(/^\s*3 \//);
  await page.getByRole('link', { name: 'Open on the canvas', exact: true }).click();
  const bar = page.getByRole('region', { name: 'Recorded episode', exact: true });
  await expect(bar).toContainText(/Step\s+3 /);
  await bar.getByRole('button', { name: 'One step forward', exact: true }).click();
  await expect(page).toHaveURL(/[?&]step=4/);
  await page.getByRole('link', { name: 'Replay', exact: true }).last().click();
  await expect(step).toContainText(/^\s*4 \//);
  // Another episode begins at its beginning, and an address with a step too many ends at the last one.
  await list.getByRole('row').nth(2).click();
  await expect(step).toContainText(/^\s*0 \//);
  await page.evaluate(() => {
    location.hash = `${location.hash}&step=99999`;
  });
  await expect(step).toHaveText(/^\s*(\d+) \/ \1/);
});
