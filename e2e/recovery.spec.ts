// After a crash, a bad disk, or an environment that keeps dying: what happened, what was lost (nothing), what to do, and
// one button that does it.
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, type App } from './app.ts';
import {
  askForFragile,
  chooseGraph,
  expectStatus,
  expectUnderWay,
  progress,
  showPage,
  startRun,
} from './steps.ts';

test.use({ hasFragile: true });
test.skip(
  process.env['AGENTCANVAS_E2E_HOST'] === 'electron',
  'the engine of the desktop app is the app itself',
);

async function finalsOf({ cli }: App, runId: string): Promise<number> {
  const shown = await cli('runs', 'show', runId, '--json');
  const { summary } = JSON.parse(shown.stdout) as { summary: { counts: { completed: number } } };
  return summary.counts.completed;
}

test('a run that was interrupted by a crash says so on every page and goes on with one button', async ({
  app,
}) => {
  const count = 60;
  await chooseGraph(app.page, 'fragile');
  await askForFragile(app.page, 'slow', count);
  const runId = await startRun(app.page);
  await expectUnderWay(app.page, count);
  const page = await app.killAndStartAgain((away) => expect(away.getByText('Engine away')).toBeVisible());
  const finding = page.getByTestId('recovery-interrupted_run');
  await expect(finding).toContainText(`AgentCanvas ended while run ${runId} was going on.`);
  await expect(finding).toContainText('Nothing that was finished is lost.');
  await expect(finding).toContainText(/Resume runs exactly the \d+ missing episodes\./);
  await expect(page.getByTestId('recovery-stale_owner')).toContainText('ended without closing');
  await page.getByTestId('recovery-stale_owner').getByRole('button', { name: 'Understood' }).click();
  await expect(page.getByTestId('recovery-stale_owner')).toHaveCount(0);
  await finding.getByRole('button', { name: 'Run what is missing' }).click();
  await expectStatus(page, 'completed');
  await expect(progress(page)).toContainText(`${count} / ${count}`);
  await showPage(page, 'History');
  await expect(finding).toHaveCount(0);
  expect(await finalsOf(app, runId)).toBe(count);
});

test('a damaged index is built anew, said once, and shows the same runs', async ({ app }) => {
  const count = 3;
  await chooseGraph(app.page, 'fragile');
  await askForFragile(app.page, 'calm', count);
  await startRun(app.page);
  await expectStatus(app.page, 'completed');
  const page = await app.killAndStartAgain(async () => {
    const index = path.join(app.workspace, '.cache', 'index.sqlite');
    for (const beside of ['-wal', '-shm']) await rm(index + beside, { force: true });
    await writeFile(index, 'not a database '.repeat(1000));
  });
  const finding = page.getByTestId('recovery-rebuilt_index');
  await expect(finding).toContainText('The index of the runs was damaged');
  await expect(finding).toContainText('Nothing is lost: the folders are the record.');
  await finding.getByRole('button', { name: 'Go to History' }).click();
  await expect(page.getByRole('grid', { name: 'Runs' }).getByRole('row').nth(1)).toContainText('completed');
  await expect(finding).toHaveCount(0);
  await page.reload();
  await expect(page.getByText('Connected', { exact: true })).toBeVisible();
  await expect(finding).toHaveCount(0);
});

test('a run whose workers are all down is paused, says why, and can be resumed', async ({ app }) => {
  const { page } = app;
  // Episode 3 of this split ends its process each time.
  const options = ['--split', 'exits', '--range', '3-3', '--repeats', '6', '--workers', '1'];
  await app.cli('eval', 'fragile', ...options);
  await showPage(page, 'History');
  const line = page.getByRole('grid', { name: 'Runs' }).getByRole('row').filter({ hasText: 'fragile' });
  await line.getByRole('link').first().click();
  await expectStatus(page, 'paused');
  await expect(page.getByText(/^Paused: every worker is down: .*exit code 7/)).toContainText(
    /Nothing that was finished is lost; \d of 6 episodes are missing\. Resume runs exactly those\./,
  );
  await page.getByRole('button', { name: /^Resume/ }).click();
  await expectStatus(page, /running|paused/);
  await expectStatus(page, 'paused');
});
