// Steps that several specs share, in the words of a user. Waits are long because a machine may be busy; they end as
// soon as what is waited for is there.
import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Locator, type Page } from '@playwright/test';
import path from 'node:path';
import { screenshots } from './app.ts';

/** The first loading of an environment, a run to its end. */
const longWaitMs = 120_000;

export const startPanel = (page: Page): Locator => page.getByRole('complementary', { name: 'Start' });
export const progress = (page: Page): Locator => page.getByRole('region', { name: 'Progress' });
export const startButton = (page: Page): Locator =>
  startPanel(page).getByRole('button', { name: 'Start', exact: true });

export async function chooseGraph(page: Page, name: string): Promise<void> {
  await page
    .getByRole('region', { name: 'Graph', exact: true })
    .getByRole('link', { name: new RegExp(`^${name} `) })
    .click();
  await expect(page.getByRole('heading', { name, level: 2 })).toBeVisible();
}

/** Waits for the checks, so that Start is what the user would press. */
export async function askForFirst(page: Page, count: number): Promise<void> {
  await page.getByRole('radiogroup', { name: 'Episodes' }).getByText('First', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Number of episodes' }).fill(String(count));
  await expectReady(page, count);
}

export async function expectReady(page: Page, count: number): Promise<void> {
  const words = `Ready: ${count.toLocaleString('en')} episode${count === 1 ? '' : 's'}`;
  await expect(startPanel(page).getByText(words, { exact: true })).toBeVisible({ timeout: longWaitMs });
}

/** Presses Start and returns the run's id. */
export async function startRun(page: Page): Promise<string> {
  await startButton(page).click();
  await expect(progress(page)).toBeVisible();
  return runIdOf(page);
}

export const runIdOf = (page: Page): string =>
  decodeURIComponent(/#\/evaluate\/([^?]+)/.exec(page.url())?.[1] ?? '');

/** At least one episode has ended, and not all of them. */
export async function expectUnderWay(page: Page, count: number): Promise<void> {
  await expect(progress(page)).toContainText(new RegExp(`(^|\\D)[1-9]\\d* / ${count}`), {
    timeout: longWaitMs,
  });
}

export async function expectStatus(page: Page, word: string | RegExp): Promise<void> {
  await expect(page.getByTestId('run-status')).toHaveText(word, { timeout: longWaitMs });
}

export async function showPage(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
}

/** Asks for episodes of the environment `fragile`, one after the other. */
export async function askForFragile(page: Page, split: string, count: number): Promise<void> {
  await page.getByRole('combobox', { name: 'Split' }).selectOption(split, { timeout: longWaitMs });
  await page.getByRole('textbox', { name: 'Workers' }).fill('1');
  await askForFirst(page, count);
}

/** No violation of WCAG A and AA in either theme, and a picture of both. */
export async function inspect(page: Page, name: string): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.screenshot({ path: path.join(screenshots, `${name}-${theme}.png`) });
    const { violations } = await new AxeBuilder({ page })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'])
      .analyze();
    const found = violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`,
    );
    expect(found, `axe on ${name}, ${theme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}
