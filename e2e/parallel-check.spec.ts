// Is my parallel number right? From a run in History to the two runs that check it, followed to their end.
import { expect, test } from './app.ts';
import { inspect, showPage } from './steps.ts';

test('the same episodes with one worker and with three: started from a run, awaited, all equal', async ({
  app: { page, cli },
}) => {
  await cli('eval', 'minivln_random', '--episodes', '6', '--split', 'val_seen', '--step-budget', '40');
  await showPage(page, 'History');
  await page.getByRole('button', { name: 'Actions for minivln_random' }).click();
  await page.getByRole('menuitem', { name: 'Check its number with more workers' }).click();
  const form = page.getByRole('region', { name: 'Check a parallel number' });
  await form.getByRole('textbox', { name: 'Episodes' }).fill('5');
  await form.getByRole('textbox', { name: 'Workers' }).fill('3');
  await inspect(page, 'parallel-check-form');
  await form.getByRole('button', { name: 'Start both runs' }).click();
  await expect(page.getByRole('tab', { name: 'Same results?' })).toHaveAttribute('aria-selected', 'true');
  const chosen = page.getByRole('list', { name: 'Chosen runs' }).getByRole('listitem');
  await expect(chosen).toHaveCount(2);
  const found = page.getByRole('region', { name: 'Differences between the results' });
  await expect(found).toContainText('All 5 pairs are equal: status, steps, limits and every metric.', {
    timeout: 120_000,
  });
  await expect(found).not.toContainText('still going on');
  for (const run of await chosen.all()) await expect(run).toContainText(/completed.*5 \/ 5/);
  await inspect(page, 'parallel-check');
});

test('results that are not equal are listed, episode by episode', async ({ app }) => {
  const { page, cli } = app;
  // Another seed of the policy stands for a policy that is not deterministic.
  const made: string[] = [];
  for (const seed of ['1', '2']) {
    const run = await cli(
      'eval',
      'minivln_random',
      '--episodes',
      '4',
      '--split',
      'val_seen',
      '--seed',
      seed,
      '--json',
    );
    const last = JSON.parse(run.stdout.trim().split('\n').at(-1) ?? '{}') as { run_id?: string };
    made.push(last.run_id ?? '');
  }
  await page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    `#/compare?runs=${made.join(',')}&tab=parallel`,
  );
  const found = page.getByRole('region', { name: 'Differences between the results' });
  await expect(found).toContainText(/^\d+ differences in 4 pairs\./);
  const rows = found.getByRole('row');
  expect(await rows.count()).toBeGreaterThan(2);
  await expect(rows.filter({ hasText: 'path_length' }).first()).toContainText(/vs_\d+|train_\d+/);
  await inspect(page, 'parallel-differences');
});
