// The canvas and files: broken graphs, huge ones, every graph that ships; nothing is written that nobody changed.
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { canvasNode as node, openGraph } from './canvas-steps.ts';
import { expect, root, test } from './app.ts';
import { showPage } from './steps.ts';

test('broken graphs open with the place and the reason, or are refused; nothing is overwritten', async ({
  app: { page, workspace },
}) => {
  const graphs = path.join(workspace, 'graphs');
  await mkdir(graphs, { recursive: true });
  const broken = JSON.stringify({
    name: 'broken',
    nodes: [
      { id: 'x', type: 'gone__thing', label: 'Unknown' },
      { id: 'a', type: 'textParse', label: 'A', position: { x: 300, y: 0 } },
      { id: 'b', type: 'textParse', label: 'B', position: { x: 600, y: 0 } },
    ],
    edges: [
      { id: '1', source: 'a', target: 'b', sourceHandle: 'value', targetHandle: 'text' },
      { id: '2', source: 'b', target: 'a', sourceHandle: 'value', targetHandle: 'text' },
    ],
  });
  await writeFile(path.join(graphs, 'broken.json'), broken);
  await writeFile(path.join(graphs, 'junk.json'), '{'.repeat(100_000));
  const huge = '[1,'.repeat(3_500_000);
  await writeFile(path.join(graphs, 'huge.json'), huge);
  await openGraph(page, 'broken');
  await expect(node(page, 'x')).toContainText('gone__thing is not known here');
  await expect(page.getByRole('region', { name: 'Checks of the graph' })).toContainText(/error/);
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('listitem').filter({ hasText: 'gone__thing' }).first().getByRole('button').click();
  await expect(node(page, 'x')).toHaveClass(/selected/);
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeDisabled();
  const refused = [
    { name: 'junk', reason: 'expected at most 64 levels' },
    { name: 'huge', reason: 'is larger than 8 MB' },
  ];
  for (const { name, reason } of refused) {
    await showPage(page, 'Canvas');
    await page.getByRole('link', { name: new RegExp(`^${name} `) }).click();
    await expect(page.getByRole('alert')).toContainText('could not be opened');
    await expect(page.getByRole('alert')).toContainText(reason);
    await expect(page.locator('.page-head')).toContainText(name);
  }
  expect(await readFile(path.join(graphs, 'broken.json'), 'utf8')).toBe(broken);
  expect(await readFile(path.join(graphs, 'huge.json'), 'utf8')).toBe(huge);
});

test('every graph that ships opens, lays out, and is saved as it was', async ({
  app: { page, workspace },
}) => {
  const shipped = path.join(root, 'resources/graphs');
  const names = (await readdir(shipped)).filter((name) => name.endsWith('.json'));
  for (const name of names) {
    const title = name.replace('.json', '');
    await openGraph(page, title);
    const graph = JSON.parse(await readFile(path.join(shipped, name), 'utf8')) as {
      readonly nodes: readonly unknown[];
      readonly containers?: readonly unknown[];
    };
    const count = graph.nodes.length + (graph.containers?.length ?? 0);
    await expect(page.locator('.react-flow__node')).toHaveCount(count);
    await page.locator('.react-flow__pane').click({ position: { x: 20, y: 20 } });
    await page.keyboard.press('l');
    await expect(page.getByRole('button', { name: 'Undo' })).toBeEnabled();
    await page.keyboard.press('ControlOrMeta+z');
    await expect(page.getByText('Saved', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'More about this graph' }).click();
    await page.getByRole('menuitem', { name: 'Save a copy' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(`copy of ${title}`);
    await page.getByRole('button', { name: 'Save', exact: true }).last().click();
    await expect(page.getByRole('navigation', { name: 'Levels' })).toContainText(`copy of ${title}`);
  }
  const copies = (await readdir(path.join(workspace, 'graphs'))).toSorted();
  expect(copies).toHaveLength(names.length);
  for (const [index, name] of names.toSorted().entries())
    expect(await readFile(path.join(workspace, 'graphs', copies[index] ?? ''), 'utf8')).toBe(
      await readFile(path.join(shipped, name), 'utf8'),
    );
});
