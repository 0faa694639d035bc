// Everything without a mouse: palette, key sheet, pages, a run from start to end.
import { expect, test } from './app.ts';
import { expectStatus, inspect } from './steps.ts';

test('the palette finds pages, graphs and actions; the key sheet lists the keys', async ({
  app: { page },
}) => {
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('History');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/#\/history/);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('Keys');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
});

test('a run is chosen, started and opened by keys alone', async ({ app: { page } }) => {
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('minivln_expert');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'minivln_expert', level: 2 })).toBeVisible();
  await expect(page.getByText(/^Ready: /)).toBeVisible({ timeout: 30_000 });
  const first = page.getByRole('radio', { name: 'First' });
  await page.getByRole('radio', { name: 'All', exact: true }).first().focus();
  await page.keyboard.press('ArrowRight');
  await expect(first).toBeChecked();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('2');
  await expect(page.getByText('Ready: 2 episodes')).toBeVisible({ timeout: 30_000 });
  await page.keyboard.press('ControlOrMeta+Enter');
  await expectStatus(page, 'completed');
});

for (const [name, address] of [
  ['compare', 'compare'],
  ['replay', 'replay'],
  ['canvas', 'canvas'],
  ['nodesets', 'nodesets'],
  ['settings', 'settings'],
] as const) {
  test(`the page ${name} is accessible in both themes`, async ({ app: { page } }) => {
    await page.goto(page.url().replace(/#.*/, `#/${address}`));
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
    await page.waitForLoadState('networkidle').catch(() => {});
    await inspect(page, name);
  });
}
