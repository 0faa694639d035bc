// Everything without a mouse: palette, key sheet, pages, a run from start to end.
import type { Page } from '@playwright/test';
import { expect, test } from './app.ts';
import { expectReady, expectStatus, inspect, showPage } from './steps.ts';

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog').getByRole('combobox')).toBeFocused();
}

test('the palette finds pages, graphs and actions; the key sheet lists the keys', async ({
  app: { page },
}) => {
  await openPalette(page);
  await page.keyboard.type('History');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/#\/history/);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('Keys');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await openPalette(page);
  await inspect(page, 'palette');
  await page.reload();
  await expect(page.getByText('Connected')).toBeVisible();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('Keys');
  await inspect(page, 'keys');
});

test('a run is chosen, started and opened by keys alone', async ({ app: { page } }) => {
  await openPalette(page);
  await page.keyboard.type('minivln_expert');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'minivln_expert', level: 2 })).toBeVisible();
  await expect(page.getByText(/^Ready: /)).toBeVisible({ timeout: 120_000 });
  const first = page.getByRole('radio', { name: 'First' });
  await page.getByRole('radio', { name: 'All', exact: true }).first().focus();
  await page.keyboard.press('ArrowRight');
  await expect(first).toBeChecked();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('2');
  await expectReady(page, 2);
  await page.keyboard.press('ControlOrMeta+Enter');
  await expectStatus(page, 'completed');
  const success = page
    .getByRole('region', { name: 'Metrics' })
    .getByRole('listitem')
    .filter({ hasText: /^success/ });
  await expect(success).toContainText('100');
  await expect(success).toContainText('n = 2');
});

for (const title of ['Compare', 'Replay', 'Canvas', 'Nodesets', 'Settings']) {
  test(`the page ${title} is accessible in both themes`, async ({ app: { page } }) => {
    await showPage(page, title);
    await expect(page.locator('.skeleton')).toHaveCount(0);
    await inspect(page, title.toLowerCase());
  });
}
