import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphDefinition, type GraphDefinition } from './contract/graph.ts';
import { nodesetSummary, type NodesetSummary } from './contract/nodeset.ts';
import { createRunProvenance, modelReferences } from './run-provenance.ts';
import { createInThreadBulkWork } from './store/bulk-work.ts';
import { nodeFileSystem } from './store/node-file-system.ts';

const python = findPython();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'provenance '));
  await mkdir(path.join(folder, 'shipped'));
  await writeFile(path.join(folder, 'shipped', 'small.onnx'), 'weights');
  await writeFile(path.join(folder, 'own.pt'), 'other weights');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const inner = { id: 'inner', type: 'vln_policy__act', config: { checkpoint: 'own.pt', device: 'cpu' } };
const graph = graphDefinition.parse({
  name: 'g',
  nodes: [
    { id: 'policy', type: 'policy_onnx', config: { model: 'library:small.onnx', provider: 'cpu' } },
    { id: 'whole', type: 'composite', config: {}, subgraph: { nodes: [inner], edges: [] } },
    { id: 'gone', type: 'policy_onnx', config: { model: 'missing.onnx' } },
  ],
  edges: [],
});

function provenanceOf(definition: GraphDefinition, nodesets: readonly NodesetSummary[] = []) {
  const source = createRunProvenance({
    folders: { library: path.join(folder, 'shipped'), workspace: folder },
    nodesets: () => nodesets,
    bulk: createInThreadBulkWork(nodeFileSystem),
  });
  return source({ graphHash: 'abc', nodesets: [], definition });
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('what a run ran on', () => {
  it('names files of weights anywhere in the graph', () => {
    expect(modelReferences(graph)).toEqual(['library:small.onnx', 'own.pt', 'missing.onnx']);
  });

  it('holds the hash of every model file that is there, and goes on without those that are not', async () => {
    const { models, graphHash } = await provenanceOf(graph);
    expect(graphHash).toBe('abc');
    expect(models).toEqual([
      { path: 'library:small.onnx', hash: sha256('weights') },
      { path: 'own.pt', hash: sha256('other weights') },
    ]);
    await writeFile(path.join(folder, 'own.pt'), 'trained on');
    expect((await provenanceOf(graph)).models[1]?.hash).toBe(sha256('trained on'));
  });

  it.skipIf(python === null)(
    'holds versions and packages of the interpreters it used, and no others',
    async () => {
      const of = (name: string, interpreterPath: string): NodesetSummary =>
        nodesetSummary.parse({
          name,
          source: '',
          origin: 'workspace',
          language: 'python',
          parallelism: 'shared',
          state: 'loaded',
          interpreterPath,
        });
      const nodesets = [of('vln_policy', python ?? ''), of('unused', '/nowhere/python')];
      const { interpreters } = await provenanceOf(graph, nodesets);
      expect(interpreters).toHaveLength(1);
      expect(interpreters[0]).toMatchObject({ path: python, version: expect.stringMatching(/^3\./) });
      expect(typeof interpreters[0]?.['packages']).toBe('object');
      expect((await provenanceOf(graph, [of('vln_policy', '/nowhere/python')])).interpreters).toEqual([]);
    },
  );
});

function findPython(): string | null {
  try {
    return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}
