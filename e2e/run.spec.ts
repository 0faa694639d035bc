// One run, live and finished: stopping, resuming, reloading, its episodes, and what went wrong in it.
import { expect, test, type App } from './app.ts';
import {
  askForFirst,
  askForFragile,
  chooseGraph,
  expectStatus,
  expectUnderWay,
  inspect,
  progress,
  runIdOf,
  showPage,
  startButton,
  startPanel,
  startRun,
} from './steps.ts';

test.use({ hasFragile: true });

interface Counts {
  readonly completed: number;
  readonly notRun: number;
}

async function countsOf({ cli }: App, runId: string): Promise<Counts> {
  const shown = await cli('runs', 'show', runId, '--json');
  return (JSON.parse(shown.stdout) as { summary: { counts: Counts } }).summary.counts;
}

test('a run that is stopped is paused and resumes to exactly what is missing', async ({ app }) => {
  const { page } = app;
  const count = 120;
  await chooseGraph(page, 'fragile');
  await askForFragile(page, 'slow', count);
  const runId = await startRun(page);
  await expectUnderWay(page, count);
  await expect(page.getByRole('region', { name: 'Workers' }).getByRole('row')).toHaveCount(2);
  await page.getByRole('button', { name: /^Stop/ }).click();
  await expectStatus(page, 'paused');
  await expect(page.getByText(/^Paused: /)).toBeVisible();
  const paused = await countsOf(app, runId);
  expect(paused.completed).toBeGreaterThan(0);
  expect(paused.completed + paused.notRun).toBe(count);
  const resume = page.getByRole('button', { name: /^Resume/ });
  await expect(resume).toContainText(`run the ${paused.notRun} missing episode`);
  await resume.click();
  await expectStatus(page, 'running');
  await inspect(page, 'running');
  await expectStatus(page, 'completed');
  await expect(progress(page)).toContainText(`${count} / ${count}`);
  expect(await countsOf(app, runId)).toMatchObject({ completed: count, notRun: 0 });
});

test('a page that is reloaded in the middle of a run keeps everything, and a second page sees the same', async ({
  app,
}, info) => {
  const { page } = app;
  const count = 80;
  await chooseGraph(page, 'fragile');
  await askForFragile(page, 'slow', count);
  await startRun(page);
  await expectUnderWay(page, count);
  await page.getByRole('tab', { name: /Episodes/ }).click();
  await expect(page).toHaveURL(/view=episodes/);
  const address = page.url();
  await page.reload();
  expect(page.url()).toBe(address);
  await expectUnderWay(page, count);
  const rows = page.getByRole('grid', { name: 'Episodes' });
  await expect(rows).toHaveAttribute('aria-rowcount', String(count + 1));
  await expect(rows.getByRole('row').nth(1)).toContainText('completed');
  if (info.project.name === 'web') {
    const other = await app.openAnother();
    await other.goto(address);
    await expectUnderWay(other, count);
    await expectStatus(other, 'completed');
    await expect(progress(other)).toContainText(`${count} / ${count}`);
    await other.close();
  }
  await expectStatus(page, 'completed');
  await expect(progress(page)).toContainText(`${count} / ${count}`);
});

test('while a run holds the engine a second one is queued, and runs when the first has ended', async ({
  app: { page },
}) => {
  await chooseGraph(page, 'fragile');
  await askForFragile(page, 'slow', 80);
  const first = await startRun(page);
  await expectUnderWay(page, 80);
  await page.goto(page.url().replace(/#.*/, '#/evaluate?graph=library%3Aminivln_expert'));
  await expect(page.getByRole('heading', { name: 'minivln_expert', level: 2 })).toBeVisible();
  await expect(startPanel(page)).toContainText('is running. This run starts when it ends.');
  await expect(startPanel(page).getByRole('link').first()).toHaveAttribute('href', new RegExp(first));
  await expect(startButton(page)).toHaveCount(0);
  await askForFirst(page, 2);
  await startPanel(page).getByRole('button', { name: 'Add to queue' }).click();
  await expectStatus(page, 'completed');
  await expect(progress(page)).toContainText('2 / 2');
  await showPage(page, 'History');
  const grid = page.getByRole('grid', { name: 'Runs' });
  await expect(grid).toHaveAttribute('aria-rowcount', '3');
  await expect(grid.getByRole('row').filter({ hasText: 'fragile' })).toContainText('80 / 80');
});

test('episodes are filtered, sorted, selected and run again', async ({ app: { page } }) => {
  await chooseGraph(page, 'minivln_random');
  await page.getByRole('textbox', { name: 'Step budget', exact: true }).fill('12');
  await askForFirst(page, 30);
  const runId = await startRun(page);
  await expectStatus(page, 'completed');
  await page.getByRole('tab', { name: /Episodes/ }).click();
  const grid = page.getByRole('grid', { name: 'Episodes' });
  await expect(grid).toHaveAttribute('aria-rowcount', '31');
  await page.keyboard.press('/');
  await page.keyboard.type('steps_taken > 1000000');
  await expect(grid).toHaveAttribute('aria-rowcount', '1');
  await expect(grid).toContainText('No episode passes the filter');
  await page.getByRole('button', { name: 'Show all episodes' }).click();
  await expect(grid).toHaveAttribute('aria-rowcount', '31');
  const filter = page.getByRole('searchbox', { name: 'Filter expression' });
  await filter.fill('success ==');
  await expect(page.getByRole('alert')).toContainText('All episodes are shown.');
  await filter.fill('ordinal < 5');
  await expect(grid).toHaveAttribute('aria-rowcount', '6');
  await expect(page).toHaveURL(/filter=ordinal/);

  const head = grid.getByRole('columnheader', { name: '#' });
  await head.getByRole('button').click();
  await expect(page).toHaveURL(/sort=/);
  await expect(head).toHaveAttribute('aria-sort', 'ascending');
  await head.getByRole('button').click();
  await expect(head).toHaveAttribute('aria-sort', 'descending');
  const rows = grid.getByRole('row');
  await expect(rows.nth(1).getByRole('gridcell').first()).toHaveText('4');
  await expect(rows.nth(5).getByRole('gridcell').first()).toHaveText('0');

  await rows.nth(2).click();
  await expect(rows.nth(2)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowDown');
  await expect(rows.nth(3)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/episode=2/);
  const detail = page.getByRole('complementary', { name: 'Episode' });
  await expect(detail.getByRole('region', { name: 'Attempt 1' })).toBeVisible();
  await inspect(page, 'episode');
  await detail.getByRole('button', { name: 'Next episode' }).click();
  await expect(page).toHaveURL(/episode=1/);
  await page.reload();
  await expect(detail.getByRole('heading', { level: 2 })).toContainText('Episode');
  await expect(grid).toHaveAttribute('aria-rowcount', '6');
  await detail.getByRole('button', { name: 'Close episode' }).click();
  await expect(page).not.toHaveURL(/episode=/);

  await page.getByRole('button', { name: 'Actions for these episodes' }).click();
  await page.getByRole('menuitem', { name: 'Run these 5 episodes again' }).click();
  await expect(page).not.toHaveURL(new RegExp(runId));
  await expectStatus(page, 'completed');
  await expect(progress(page)).toContainText('5 / 5');
  await expect(page.getByRole('link', { name: 'From an earlier run' })).toHaveAttribute(
    'href',
    new RegExp(runId),
  );
});

test('errors of a failing run stand at the episode, at the run and in History', async ({ app }) => {
  const { page } = app;
  await chooseGraph(page, 'fragile');
  await askForFragile(page, 'throws', 6);
  await startRun(page);
  await expectStatus(page, 'completed with errors');
  await expect(progress(page)).toContainText('error 1');
  await page.getByRole('tab', { name: /Episodes/ }).click();
  const grid = page.getByRole('grid', { name: 'Episodes' });
  const failed = grid.getByRole('row').filter({ hasText: 'the wheel came off' });
  await expect(failed).toHaveCount(1);
  await failed.dblclick();
  const detail = page.getByRole('complementary', { name: 'Episode' });
  await expect(detail).toContainText('the wheel came off');
  await expect(detail).toContainText('step');
  await inspect(page, 'episode-failed');
  await detail.getByRole('button', { name: 'Close episode' }).click();
  await page.getByText('Group by error').click();
  await expect(grid.getByRole('button', { name: /the wheel came off/ })).toHaveAttribute(
    'aria-expanded',
    'true',
  );
  await showPage(page, 'History');
  await expect(
    page.getByRole('grid', { name: 'Runs' }).getByRole('row').filter({ hasText: 'fragile' }),
  ).toContainText('with errors');
});

test('a run that ends at its first error says why it stopped', async ({ app }) => {
  const { page } = app;
  await chooseGraph(page, 'fragile');
  await askForFragile(page, 'throws', 6);
  await page.getByText('Advanced', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Stop the run at' }).fill('1');
  await askForFirst(page, 6);
  await startRun(page);
  await expectStatus(page, 'paused');
  await expect(page.getByText(/^Paused: 1 episodes? ended without a verdict/)).toBeVisible();
  expect(await countsOf(app, runIdOf(page))).toMatchObject({ completed: 3, notRun: 2 });
});

test('a run that cannot begin is failed and says why, at the run and in History', async ({
  app: { page, cli },
}) => {
  await showPage(page, 'History');
  const refused = await cli('eval', 'fragile', '--split', 'throws', '--episodes', '21', '--no-checks');
  expect(refused.code).not.toBe(0);
  const line = page.getByRole('grid', { name: 'Runs' }).getByRole('row').filter({ hasText: 'fragile' });
  await expect(line).toContainText('failed');
  await line.getByRole('link').first().click();
  await expectStatus(page, 'failed');
  const why = page.getByRole('alert').filter({ hasText: 'The run ended with an error.' });
  await expect(why).toContainText('throws of fragile has 20 episodes');
  await inspect(page, 'run-failed');
});

test('a run whose engine was killed is interrupted and resumes to exactly the rest', async ({
  app,
}, info) => {
  test.skip(info.project.name !== 'web', 'the engine of the desktop app is the app itself');
  const count = 60;
  await chooseGraph(app.page, 'fragile');
  await askForFragile(app.page, 'slow', count);
  const runId = await startRun(app.page);
  await expectUnderWay(app.page, count);
  const page = await app.killAndStartAgain((away) => expect(away.getByText('Engine away')).toBeVisible());
  await showPage(page, 'History');
  const line = page.getByRole('grid', { name: 'Runs' }).getByRole('row').filter({ hasText: 'fragile' });
  await expect(line).toContainText('interrupted');
  const kept = await countsOf(app, runId);
  expect(kept.completed).toBeGreaterThan(0);
  expect(kept.completed + kept.notRun).toBe(count);
  await line.getByRole('link').first().click();
  await expect(page.getByText('AgentCanvas ended while this run was going on.')).toContainText(
    `${kept.notRun} of ${count} episodes are missing`,
  );
  await expect(progress(page)).toContainText(`${kept.completed} / ${count}`);
  await inspect(page, 'run-interrupted');
  const resume = page.getByRole('button', { name: /^Resume/ });
  await expect(resume).toContainText(`run the ${kept.notRun} missing episode`);
  await resume.click();
  await expectStatus(page, 'completed');
  await expect(progress(page)).toContainText(`${count} / ${count}`);
  expect(await countsOf(app, runId)).toMatchObject({ completed: count, notRun: 0 });
});
