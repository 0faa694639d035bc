// Two policies on the same episodes: compared pair by pair, a flip watched on both sides in step, and what leaves as
// files (LaTeX, a report that opens offline, a video) opened again by something that is not this app.
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { Download, Locator, Page } from '@playwright/test';
import { expect, test, type App } from './app.ts';
import { inspect, showPage } from './steps.ts';
import { watchVideo } from './video.ts';

const episodes = 8;

async function evaluate({ cli }: App, graph: string): Promise<string> {
  const size = ['--episodes', String(episodes), '--step-budget', '60', '--seed', '7'];
  const made = await cli('eval', graph, '--split', 'val_seen', ...size, '--record', 'all', '--json');
  const last = JSON.parse(made.stdout.trim().split('\n').at(-1) ?? '{}') as { run_id?: string };
  expect(last.run_id, made.stderr).toBeTruthy();
  return last.run_id ?? '';
}

/** The way a user does it: both runs ticked in History, the baseline first. */
async function compareTicked(page: Page, names: readonly string[]): Promise<void> {
  await showPage(page, 'History');
  for (const name of names) await page.getByRole('checkbox', { name: `Tick ${name}` }).check();
  await page.getByRole('link', { name: 'Compare', exact: true }).last().click();
  await expect(page.getByRole('heading', { name: 'Compare', level: 1 })).toBeVisible();
}

async function saved(page: Page, item: RegExp): Promise<Download> {
  await page.getByRole('button', { name: /^Export/ }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download', { timeout: 120_000 }),
    page.getByRole('menuitem', { name: item }).click(),
  ]);
  return file;
}

const stages = (page: Page): Locator => page.getByRole('region', { name: /^Episode .*minivln_/ });
const stepShown = (page: Page): Locator => page.getByTestId('step');

/** Address of the picture a side shows, once it is really drawn. */
async function pictureOf(stage: Locator): Promise<string> {
  const picture = stage.getByRole('img', { name: /^What was seen/ });
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => (image.complete ? image.naturalWidth : 0)))
    .toBe(96);
  return (await picture.getAttribute('src')) ?? '';
}

test('two policies are compared, a flip is watched in step, and numbers and video leave as files', async ({
  app,
}, info) => {
  const { page } = app;
  const random = await evaluate(app, 'minivln_random');
  const expert = await evaluate(app, 'minivln_expert');
  await compareTicked(page, ['minivln_random', 'minivln_expert']);
  expect(decodeURIComponent(page.url())).toContain(`${random},${expert}`);
  const success = page.getByRole('row', { name: /^success / });
  await expect(success).toContainText('McNemar');
  const won = Number(await success.getByRole('cell').nth(7).textContent());
  expect(won).toBeGreaterThan(0);
  await inspect(page, 'compare-metrics');

  await test.step('scenes, the graph, provenance and the check of a parallel number are one click away', async () => {
    await expect(page.getByRole('region', { name: 'How many more episodes' })).toContainText(
      /pairs are needed/,
    );
    await page.getByRole('tab', { name: 'Groups', exact: true }).click();
    const groups = page.getByRole('grid', { name: 'Scenes' }).getByRole('row');
    await expect.poll(() => groups.count()).toBeGreaterThan(2);
    await page.getByText('Instruction length', { exact: true }).click();
    await expect(page.getByRole('grid', { name: 'Instruction length' })).toContainText(/\d+ (to \d+ )?words/);
    await expect(page).toHaveURL(/[?&]by=length/);
    await inspect(page, 'compare-groups');
    await page.getByRole('tab', { name: 'Graph', exact: true }).click();
    await expect(
      page.getByText(/policies__random → policies__expert|nodes?, .* differ/).first(),
    ).toBeVisible();
    await inspect(page, 'compare-graph');
    await page.getByRole('tab', { name: 'Provenance' }).click();
    await page.getByRole('checkbox', { name: 'Only differences' }).check();
    const facts = page.getByRole('group', { name: 'Table of provenance' });
    await expect(facts).toContainText('graph hash');
    await expect(facts).not.toContainText('processor');
    await inspect(page, 'compare-provenance');
    await page.getByRole('tab', { name: 'Same results?' }).click();
    await expect(page.getByText(/differences? in 8 pairs/)).toBeVisible();
    await page.getByRole('tab', { name: 'Metrics' }).click();
  });

  await test.step('the LaTeX table says what was compared and how sure it is', async () => {
    const tex = await readFile(await (await saved(page, /LaTeX/)).path(), 'utf8');
    expect(tex).toContain(String.raw`\begin{tabular}`);
    expect(tex).toContain(String.raw`\toprule`);
    expect(tex).toContain(`% baseline: ${random}`);
    expect(tex).toContain(`% compared: ${expert}`);
    expect(tex).toContain(String.raw`minivln\_expert`);
    expect(tex).toMatch(/minivln\\_expert & \$\\mathbf\{/);
    expect(tex).toContain(String.raw`\dagger`);
    expect(tex).toMatch(/McNemar/);
    expect(tex).toContain(`n=${episodes}`);
    expect(tex.match(/\{/g)?.length).toBe(tex.match(/\}/g)?.length);
  });

  await test.step('the table is copied for a spreadsheet', async () => {
    await page.getByRole('button', { name: /^Export/ }).click();
    await page.getByRole('menuitem', { name: /Copy table/ }).click();
    await expect(page.getByText('The table was copied.')).toBeVisible();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const lines = copied
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('#'));
    expect(new Set(lines.map((line) => line.split('\t').length)).size).toBe(1);
    expect(copied).toContain('success\t');
  });

  if (info.project.name === 'web')
    await test.step('the report opens without a network and asks for nothing', async () => {
      const file = await saved(page, /Report/);
      const report = await page.context().newPage();
      const asked: string[] = [];
      report.on('request', (request) => asked.push(request.url()));
      const address = pathToFileURL(await file.path()).href;
      await report.context().setOffline(true);
      await report.setContent(await readFile(await file.path(), 'utf8'));
      await expect(report.getByText('McNemar').first()).toBeVisible();
      await expect(report.getByText('minivln_expert').first()).toBeVisible();
      await report.context().setOffline(false);
      expect(asked.filter((url) => url !== address)).toEqual([]);
      await report.close();
    });

  await test.step('a flip is watched in step with the keyboard', async () => {
    await page.getByRole('tab', { name: 'Episodes' }).click();
    const flips = page.getByRole('grid', { name: 'Paired episodes' });
    await expect(flips.getByRole('row')).toHaveCount(won + 1);
    await inspect(page, 'compare-episodes');
    await flips.getByRole('row').nth(1).click();
    await page.keyboard.press('Enter');
    await expect(stages(page)).toHaveCount(2);
    await expect(stepShown(page)).toContainText(/^\s*0 \//);
    const [left, right] = [stages(page).nth(0), stages(page).nth(1)];
    const before = [await pictureOf(left), await pictureOf(right)];
    for (let press = 0; press < 3; press += 1) await page.keyboard.press('ArrowRight');
    await expect(stepShown(page)).toContainText(/^\s*3 \//);
    for (const [at, stage] of [left, right].entries()) {
      await expect(stage.getByText('3', { exact: true }).first()).toBeVisible();
      await expect.poll(() => pictureOf(stage)).not.toBe(before[at]);
    }
    await page.keyboard.press('ArrowLeft');
    await expect(stepShown(page)).toContainText(/^\s*2 \//);
    await inspect(page, 'replay-two');
    await page.keyboard.press(']');
    await page.keyboard.press(']');
    await page.keyboard.press('Space');
    await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeVisible();
    await page.keyboard.press('Space');
    await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeVisible();
    await page.keyboard.press('End');
    const [, last] = /(\d+) \/ (\d+)/.exec((await stepShown(page).textContent()) ?? '') ?? [];
    await expect(stepShown(page)).toContainText(`${last} / ${last}`);
    await page.keyboard.press('Home');
    await expect(stepShown(page)).toContainText(/^\s*0 \//);
  });

  await test.step('the video of both plays from the first step to the last', async () => {
    const steps = Number(/\/ (\d+)/.exec((await stepShown(page).textContent()) ?? '')?.[1]) + 1;
    const file = await saved(page, /^Video/);
    expect(file.suggestedFilename()).toMatch(/_and_.*\.(webm|mp4)$/);
    const seen = await watchVideo(page.context(), await file.path());
    // Speed 4 is 16 steps a second.
    expect(seen.seconds).toBeGreaterThan((steps / 16) * 0.8);
    expect(seen.seconds).toBeLessThan((steps / 16) * 1.25 + 1);
    expect(seen.width).toBeGreaterThan(2 * 96);
    expect(seen.differentPictures).toBeGreaterThan(4);
    expect(seen.isBlack).toBe(false);
  });
});
