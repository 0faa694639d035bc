// Language models from nothing: a provider is added and tested, a graph asks it on the canvas and in a run, and what it
// used is seen. The endpoint is on this machine and speaks OpenAI's chat completions.
import path from 'node:path';
import { readFile } from 'node:fs/promises';
import { startLoopbackEndpoint, type LoopbackEndpoint } from '../main/llm/testing/loopback-endpoint.ts';
import { expect, test } from './app.ts';
import { canvasNode, openGraph, playStatus } from './canvas-steps.ts';
import { askForFirst, chooseGraph, expectStatus, inspect, showPage, startRun } from './steps.ts';

const key = 'sk-e2e-canary-0123456789';
let endpoint: LoopbackEndpoint;

test.beforeEach(async () => {
  endpoint = await startLoopbackEndpoint();
});

test.afterEach(async () => {
  await endpoint[Symbol.asyncDispose]();
});

test('a provider is added and tested, answers a graph, and what it used is shown', async ({
  app: { page, workspace, cli },
}) => {
  await showPage(page, 'Settings');
  await page.getByRole('button', { name: 'Add provider' }).click();
  await page.getByRole('menuitem', { name: /^endpoint/ }).click();
  const provider = page.getByRole('group', { name: 'Provider endpoint' });
  await provider.getByLabel('Address').fill(endpoint.baseUrl);
  await provider.getByLabel('Key', { exact: true }).fill(key);
  await provider.getByRole('button', { name: 'Set key' }).click();
  await expect(provider.getByLabel('Key', { exact: true })).toHaveValue('');
  await provider.getByRole('textbox', { name: 'Test' }).fill('tiny');
  await provider.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(provider.getByLabel('Result of the test')).toContainText('It answered: ok (tiny-0613');
  expect(endpoint.calls[0]?.key).toBe(key);
  endpoint.answer({ kind: 'status', status: 401, message: `wrong key ${key}` });
  await provider.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(provider.getByLabel('Result of the test')).toContainText('refused the key (401)');
  await expect(provider.getByLabel('Result of the test')).toContainText('wrong key [redacted]');
  await page.getByRole('button', { name: 'Add model' }).click();
  await page.getByLabel('Model of model-1').fill('tiny');
  await page.getByLabel('Input $ per million tokens, model-1', { exact: true }).fill('1');
  await page.getByLabel('Output $ per million tokens, model-1').fill('2');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('There are unsaved changes.')).toBeHidden();
  await expect(provider.getByText(/Set, in the file/)).toBeVisible();
  await provider.scrollIntoViewIfNeeded();
  await inspect(page, 'language-models');

  endpoint.answer({
    kind: 'reply',
    text: 'I see a door and a blue wall, so I stop here now.\nSTOP',
    betweenMs: 150,
  });
  await openGraph(page, 'minivln_llm');
  await page
    .getByRole('toolbar', { name: 'Play' })
    .getByRole('button', { name: 'Play', exact: true })
    .click();
  const reply = canvasNode(page, 'reply_view');
  await expect(reply).toContainText('I see a', { timeout: 60_000 });
  await expect(reply).not.toContainText('STOP', { timeout: 1 });
  await expect(reply).toContainText('STOP');
  await expect(playStatus(page)).toContainText('1 call, 18 tokens, $0.000025');
  await inspect(page, 'language-models-canvas');

  endpoint.answer({ kind: 'reply', text: 'There.\nSTOP' });
  await showPage(page, 'Evaluate');
  await chooseGraph(page, 'minivln_llm');
  await expect(page.getByText('Language model', { exact: true }).first()).toBeVisible();
  await askForFirst(page, 2);
  const runId = await startRun(page);
  await expectStatus(page, 'completed');
  await expect(page.getByLabel('Language models')).toContainText('$0.00005');
  await inspect(page, 'language-models-run');
  await page.getByRole('tab', { name: /Episodes/ }).click();
  const grid = page.getByRole('grid', { name: 'Episodes' });
  await expect(grid.getByRole('columnheader', { name: /Cost/ })).toBeVisible();
  await expect(grid.getByRole('row').nth(1)).toContainText('0.000025');
  await inspect(page, 'language-models-episodes');

  const shown = await cli('runs', 'show', runId);
  expect(shown.stdout).toContain('language models: 2 calls, 22 input and 14 output tokens, $0.00005');
  const settings = await readFile(path.join(workspace, 'settings.json'), 'utf8').catch(() => '');
  expect(settings).not.toContain(key);
});
