// The shipped graphs, run by the engine's own compiler and loop runner with both nodesets as they are bundled.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../main/base/clock.ts';
import { graphDefinition } from '../../../main/contract/graph.ts';
import { createBuiltinCatalog } from '../../../main/graph/builtin/catalog.ts';
import { compileGraph } from '../../../main/graph/compile.ts';
import { LoopRunner, type RunResult } from '../../../main/graph/loop-runner.ts';
import type { NodeCatalog } from '../../../main/graph/ports.ts';
import { createNodesetCompiler } from '../../../main/nodeset/compile.ts';
import { loadLocalNodeset } from '../../../main/nodeset/local-nodeset.ts';

type Loaded = Awaited<ReturnType<typeof loadLocalNodeset>>;

const nodesets = path.resolve(import.meta.dirname, '..');
let cacheFolder = '';
let minivln: Loaded;
let policies: Loaded;

async function load(name: string): Promise<Loaded> {
  const compiler = createNodesetCompiler({ cacheFolder });
  const { bundlePath } = await compiler.compile({ name, entry: path.join(nodesets, name, 'nodeset.ts') });
  return loadLocalNodeset({ name, bundlePath, clock: systemClock });
}

beforeAll(async () => {
  cacheFolder = mkdtempSync(path.join(tmpdir(), 'minivln-'));
  [minivln, policies] = await Promise.all([load('minivln'), load('policies')]);
});

afterAll(() => rmSync(cacheFolder, { recursive: true, force: true }));

function catalog(): NodeCatalog {
  const builtins = createBuiltinCatalog();
  const types = new Map(
    [...minivln.nodeTypes, ...policies.nodeTypes].map((type) => [type.manifest.nodeType, type]),
  );
  return { lookup: (nodeType) => builtins.lookup(nodeType) ?? types.get(nodeType) };
}

async function play(graph: string, index: number, seed = 1): Promise<RunResult> {
  const file = path.resolve(nodesets, `../graphs/${graph}.json`);
  const definition = graphDefinition.parse(JSON.parse(readFileSync(file, 'utf8')));
  const panel = minivln.panel!;
  await panel.changeField('split', 'val_unseen');
  await panel.changeField('episode_index', index);
  await panel.act('play', {});
  const executionId = `${graph}-${index}-${seed}`;
  return new LoopRunner(compileGraph(definition, catalog()), { executionId, seed, stepBudget: 200 }).run();
}

describe('shipped graphs', () => {
  it('let the expert succeed and harvest every metric', async () => {
    for (const index of [0, 500, 1838]) {
      const { status, harvest, nodeErrors, limit } = await play('minivln_expert', index);
      expect({ status, nodeErrors, limit }).toEqual({ status: 'completed', nodeErrors: [], limit: null });
      expect(harvest).toMatchObject({ success: 1, oracle_success: 1 });
      expect(Object.keys(harvest)).toHaveLength(9);
    }
  });

  it('let the random policy walk until it stops or the budget ends, the same for the same seed', async () => {
    const first = await play('minivln_random', 10, 3);
    expect(first.status).toBe('completed');
    expect(first.harvest['steps_taken']).toBe(first.steps);
    const [again, other] = [await play('minivln_random', 10, 3), await play('minivln_random', 10, 4)];
    expect(again.harvest).toEqual(first.harvest);
    expect(other.harvest).not.toEqual(first.harvest);
  });
});
