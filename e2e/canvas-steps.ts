// Steps of the specs of the canvas, in the words of a user.
import type { Locator, Page } from '@playwright/test';
import { expect } from './app.ts';
import { showPage } from './steps.ts';

export const canvasNode = (page: Page, id: string): Locator =>
  page.locator(`.react-flow__node[data-id="${id}"]`);

/** `step.rgb`: the handle of a port. */
export const wireHandle = (page: Page, place: string, side: 'source' | 'target'): Locator => {
  const [id = '', name = ''] = place.split('.');
  return canvasNode(page, id).locator(`.react-flow__handle.${side}[data-handleid="${name}"]`);
};

export const playStatus = (page: Page): Locator =>
  page.getByRole('toolbar', { name: 'Play' }).locator('output');

export async function openGraph(page: Page, name: string): Promise<void> {
  await showPage(page, 'Canvas');
  await page.getByRole('link', { name: new RegExp(`^${name} `) }).click();
  await expect(page.locator('.react-flow__node').first()).toBeVisible();
}
