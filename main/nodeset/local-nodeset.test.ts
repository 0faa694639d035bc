import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { Tensor } from '../base/tensor.ts';
import { FireList } from '../graph/ports.ts';
import { createNodesetCompiler } from './compile.ts';
import type { LiveNodeset } from './live-nodeset.ts';
import { loadLocalNodeset } from './local-nodeset.ts';
import { firing } from './testing/firing.ts';

const nodesets = fileURLToPath(new URL('./testing/nodesets', import.meta.url));
let cacheFolder: string;

beforeEach(async () => {
  cacheFolder = await mkdtemp(path.join(os.tmpdir(), 'local-'));
});
afterEach(async () => {
  await rm(cacheFolder, { recursive: true, force: true });
});

async function load(name: string, entry: string): Promise<LiveNodeset> {
  const { bundlePath } = await createNodesetCompiler({ cacheFolder }).compile({ name, entry });
  return await loadLocalNodeset({ name, bundlePath, clock: systemClock });
}

async function written(name: string, body: string): Promise<LiveNodeset> {
  const entry = path.join(cacheFolder, `${name}.ts`);
  await writeFile(
    entry,
    `import { defineNodeset } from 'agentcanvas';\nexport default defineNodeset({ name: '${name}', ${body} });`,
  );
  return await load(name, entry);
}

function handlerOf(
  nodeset: LiveNodeset,
  nodeType: string,
): ReturnType<LiveNodeset['nodeTypes'][number]['bind']> {
  const found = nodeset.nodeTypes.find((each) => each.manifest.nodeType === nodeType);
  if (!found) throw new Error(`no ${nodeType}`);
  return found.bind('n1', found.manifest.defaultConfig);
}

describe('a shared nodeset in the engine', () => {
  it('returns a value in the same turn when the author does', async () => {
    await using nodeset = await load('calculator', path.join(nodesets, 'calculator/nodeset.ts'));
    expect(handlerOf(nodeset, 'calculator__add').forward({ a: 2, b: 3 }, firing())).toEqual({ sum: 5 });
  });

  it("finds data beside its source, and its tensors are the engine's", async () => {
    await using nodeset = await load('calculator', path.join(nodesets, 'calculator/nodeset.ts'));
    expect(handlerOf(nodeset, 'calculator__greet').forward({}, firing())).toEqual({ text: 'hello' });
    const { value } = (await handlerOf(nodeset, 'calculator__tensor').forward({}, firing())) as {
      value: unknown;
    };
    expect(value).toBeInstanceOf(Tensor);
  });

  it('offers its batched node to the inference layer', async () => {
    await using nodeset = await load('calculator', path.join(nodesets, 'calculator/nodeset.ts'));
    const backend = nodeset.batchBackend('calculator__double');
    const { signal } = new AbortController();
    expect(await backend?.call([{ x: 1 }, { x: 2 }], {}, signal)).toEqual([
      { y: 2, of: 2 },
      { y: 4, of: 2 },
    ]);
    expect(nodeset.batchBackend('calculator__add')).toBeUndefined();
  });

  it("turns a fire list into one the executor knows, with the author's aggregate", async () => {
    const body = `create: () => ({ nodes: [{ name: 'fan', forward: () => ({ fireList: [{ nodeType: 'x__y', inputs: { a: 1 } }], aggregate: (results) => ({ n: results.length }) }) }] })`;
    await using nodeset = await written('fans', body);
    const result = await handlerOf(nodeset, 'fans__fan').forward({}, firing());
    expect(result).toBeInstanceOf(FireList);
    const list = result as FireList;
    expect(list.firings).toEqual([
      { nodeType: 'x__y', inputs: { a: 1 }, config: {}, label: '', captureOutputs: true },
    ]);
    expect(list.collapse.recipe === 'own' && list.collapse.aggregate([{}, {}])).toEqual({ n: 2 });
  });

  it.each([
    [
      'import',
      `create: (() => { throw new Error('never'); }) } as never); throw new Error('broken at import'); void ({ a: 1`,
      /failed in import: broken at import/,
    ],
    [
      'create',
      `create: () => { throw new Error('broken at create'); }`,
      /failed in create: broken at create/,
    ],
    [
      'initialize',
      `create: () => ({ nodes: [], initialize: () => { throw new Error('broken at initialize'); } })`,
      /failed in initialize: broken at initialize/,
    ],
  ])('says that it failed in %s, and why', async (_where, body, message) => {
    await expect(written('broken', body)).rejects.toMatchObject({
      code: 'nodeset_failed',
      message: expect.stringMatching(message) as string,
    });
  });

  it('gives up a nodeset that never becomes ready after its start-up time', async () => {
    await expect(
      written(
        'slow',
        `startupTimeoutSec: 0.05, create: () => ({ nodes: [], initialize: () => new Promise(() => {}) })`,
      ),
    ).rejects.toMatchObject({ code: 'timeout' });
  });
});
