// At 1280 x 800 nothing essential scrolls sideways: columns yield, and come back when they are asked for or have room.
import { expect, test } from './app.ts';
import { showPage } from './steps.ts';
import type { Locator } from '@playwright/test';

const overflow = (grid: Locator): Promise<number> =>
  grid.evaluate((element) => element.scrollWidth - element.clientWidth);

test('runs with nine metrics fit a small window, and use a large one', async ({ app: { page, cli } }) => {
  await cli('eval', 'minivln_random', '--episodes', '3', '--split', 'val_unseen');
  await page.setViewportSize({ width: 1280, height: 800 });
  await showPage(page, 'History');
  const runs = page.getByRole('grid', { name: 'Runs' });
  const name = runs.getByRole('link', { name: 'minivln_random', exact: true });
  await expect(name).toBeVisible();
  expect(await overflow(runs)).toBe(0);
  expect(await overflow(name)).toBe(0);
  await name.click();
  await page.getByRole('tab', { name: /^Episodes/ }).click();
  const episodes = page.getByRole('grid', { name: 'Episodes' });
  const collisions = episodes.getByRole('columnheader', { name: /^collisions/ });
  await expect(episodes.getByRole('columnheader', { name: 'success', exact: true })).toBeVisible();
  expect(await overflow(episodes)).toBe(0);
  await expect(collisions).toHaveCount(0);
  await page.getByRole('button', { name: /^Choose columns, \d hidden/ }).click();
  await page.getByRole('menuitemcheckbox', { name: 'collisions' }).click();
  await page.keyboard.press('Escape');
  await expect(collisions).toBeVisible();
  expect(await overflow(episodes)).toBe(0);
  await page.setViewportSize({ width: 3840, height: 2160 });
  await expect(episodes.getByRole('columnheader')).toHaveCount(16);
  await page.getByRole('tab', { name: 'Overview' }).click();
  const chart = await page.getByRole('figure').first().boundingBox();
  expect(chart?.height).toBeGreaterThan(400);
});
