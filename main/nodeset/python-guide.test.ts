import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BatchBackend } from './ports.ts';
import {
  createPythonBench,
  fire,
  usablePythons,
  writeWheel,
  type PythonBench,
} from './testing/python-bench.ts';
import { pythonInterpreter } from './testing/test-registry.ts';

const guide = fileURLToPath(new URL('../../docs/python-nodesets.md', import.meta.url));
let bench: PythonBench;

afterEach(async () => {
  vi.unstubAllEnvs();
  await bench[Symbol.asyncDispose]();
});

async function examples(): Promise<readonly string[]> {
  return [...(await readFile(guide, 'utf8')).matchAll(/```python\n(.*?)```/gs)].map(([, code]) => code ?? '');
}

describe.skipIf(!existsSync(pythonInterpreter()))("the Python author's guide", () => {
  it('shows an environment and a batched policy that work as printed', async () => {
    const [environment = '', policy = ''] = await examples();
    bench = await createPythonBench({ 'corridor.py': environment, 'walker.py': policy });
    const { registry } = bench;
    await registry.scan();
    const backends: BatchBackend[] = [];
    await using session = await registry.ensureNodesetsForGraph(['corridor', 'walker'], {
      replicaCount: 1,
      batching: { wrap: (nodeType, backend) => (backends.push(backend), nodeType) },
    });
    const [set] = session.initial;
    const panel = set?.panel('corridor');
    await panel?.changeField('split', 'test');
    await panel?.changeField('episode_index', 3);
    expect(await panel?.act('play', {})).toMatchObject({
      currentEpisode: { episodeId: 'test-3' },
      stepBudget: 30,
    });
    let observed = await fire(set, 'corridor__observe');
    const length = observed['distance'];
    for (let count = 0; count < 30 && observed['done'] !== true; count++)
      observed = await fire(set, 'corridor__step', await fire(set, 'walker__act', observed));
    expect(observed).toEqual({ distance: 0, done: true, metrics: { success: 1, steps_taken: length } });
    const samples = [{ distance: 3 }, { distance: 0 }];
    expect(await backends[0]?.call(samples, { stride: 1 }, new AbortController().signal)).toEqual([
      { action: 1 },
      { action: 0 },
    ]);
    expect(await session.evalMetadata('corridor')).toMatchObject({
      episodeCounts: { train: 100, test: 20 },
      metrics: [
        { name: 'success', kind: 'rate' },
        { name: 'steps_taken', higherIsBetter: false },
      ],
    });
  });

  it.skipIf(usablePythons().length === 0)(
    'shows packages of its own that the app installs',
    async () => {
      const [, , example = ''] = await examples();
      bench = await createPythonBench({ 'sim.py': example });
      const wheels = path.join(path.dirname(bench.test.folder), 'wheels');
      await writeWheel(wheels, 'ac_sim', '1.0');
      vi.stubEnv('PIP_NO_INDEX', '1');
      vi.stubEnv('PIP_FIND_LINKS', new URL(`file://${wheels}`).href);
      vi.stubEnv('PIP_CONSTRAINT', '');
      await bench.registry.scan();
      await bench.registry.buildEnvironment('sim');
      await using session = await bench.registry.ensureNodesetsForGraph(['sim'], { replicaCount: 1 });
      expect(await fire(session.initial[0], 'sim__version')).toEqual({ version: '1.0' });
    },
    240_000,
  );
});
