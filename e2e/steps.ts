// Steps that several specs share, in the words of a user.
import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import path from 'node:path';
import { screenshots } from './app.ts';

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
  await expect(page.getByText(`Ready: ${count.toLocaleString('en')} episode`)).toBeVisible({
    timeout: 30_000,
  });
}

/** Presses Start and returns the run's id. */
export async function startRun(page: Page): Promise<string> {
  await page
    .getByRole('complementary', { name: 'Start' })
    .getByRole('button', { name: 'Start', exact: true })
    .click();
  await expect(page.getByRole('region', { name: 'Progress' })).toBeVisible();
  return decodeURIComponent(/#\/evaluate\/([^?]+)/.exec(page.url())?.[1] ?? '');
}

export async function expectStatus(page: Page, word: string | RegExp): Promise<void> {
  await expect(page.getByTestId('run-status')).toHaveText(word, { timeout: 60_000 });
}

export async function showPage(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
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
