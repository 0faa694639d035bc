// Runs with a learned policy over real replicas and a real model host.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { evalConfig, type EvalConfigInput } from '../contract/eval-config.ts';
import { graphDefinition } from '../contract/graph.ts';
import { BatchedInferenceServer } from '../inference/inference-server.ts';
import { PolicyNodes } from '../inference/onnx/policy-node.ts';
import { modelHostProgram } from '../inference/testing/model-folder.ts';
import { recurrentPolicy } from '../inference/testing/sample-models.ts';
import type { GraphSource } from './ports.ts';
import { makeWorkspace, openLiveBench, removeWorkspace, type LiveBench } from './testing/live-bench.ts';

const testing = fileURLToPath(new URL('../inference/testing', import.meta.url));
let folder: string;
let bench: LiveBench;
let policies: PolicyNodes;
let isBatching = true;

const graphs: GraphSource = {
  parse: (text) => graphDefinition.parse(JSON.parse(text)),
  validate: () => [],
  /** The name is that of the output the action is read from. */
  async load(name) {
    const file = path.join(testing, 'graphs/walker.json');
    const text = (await readFile(file, 'utf8')).replace('logits', name);
    const item = {
      name,
      ref: file,
      origin: 'file',
      description: '',
      nodesets: [],
      evalGraph: true,
      modifiedAt: '',
    } as const;
    return { item: { ...item, nodesets: [] }, text, definition: graphDefinition.parse(JSON.parse(text)) };
  },
};

beforeAll(async () => {
  folder = await makeWorkspace();
  await writeFile(
    path.join(folder, 'policy.onnx'),
    recurrentPolicy({ observation: 6, hidden: 16, actions: 4 }),
  );
  bench = await openLiveBench(folder, {
    withLibrary: false,
    nodesetFolders: [path.join(testing, 'nodesets')],
    graphs,
    engineNodes: (processes) =>
      (policies = new PolicyNodes({
        models: { library: folder, workspace: folder },
        host: {
          clock: systemClock,
          program: modelHostProgram,
          startHost: (start) => processes.startHost(start),
        },
        cores: 1,
      })),
    batching: ({ config }) =>
      new BatchedInferenceServer({
        clock: systemClock,
        // One sample per call is what a run without the tier does.
        batching: isBatching ? config.batching : { ...config.batching, maxBatch: 1 },
        limits: { batchMs: 2_500, firstBatchMs: 60_000 },
      }),
  });
}, 60_000);

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await policies[Symbol.asyncDispose]();
  await removeWorkspace(folder);
});

const walk = (more: Partial<EvalConfigInput> = {}): EvalConfigInput => ({
  graph: 'logits',
  episodes: 16,
  ...more,
});

describe('a run with a batched policy', () => {
  it('takes identical actions with 1, 2, 4 and 8 workers, both flush policies, and with batching off', async () => {
    const results: unknown[] = [];
    const ways: readonly (Partial<EvalConfigInput> & { readonly off?: boolean })[] = [
      { workerCount: 1 },
      { workerCount: 2 },
      { workerCount: 4 },
      { workerCount: 8 },
      { workerCount: 4, batching: { flushPolicy: 'rendezvous', flushTimeoutMs: 20 } },
      { workerCount: 4, off: true },
    ];
    for (const { off = false, ...way } of ways) {
      isBatching = !off;
      const { runId, status } = await bench.evaluate(walk(way));
      expect(status).toBe('completed');
      results.push(await bench.results(runId));
    }
    isBatching = true;
    const [first] = results;
    for (const result of results) expect(result).toEqual(first);
    const histories = new Set(
      (first as { metrics: Record<string, number> }[]).map(({ metrics }) => metrics['history']),
    );
    expect(histories.size).toBe(16);
  }, 120_000);

  it('goes on over a killed and a stopped model host, with the same results', async () => {
    const calm = await bench.evaluate(walk({ workerCount: 2 }));
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      const { runId } = await bench.service.start({
        config: evalConfig.parse(walk({ workerCount: 2 })),
        whenBusy: 'refuse',
      });
      await bench.seen(
        'run.episodes',
        (payload) => payload.runId === runId && payload.rows.some(({ status }) => status === 'completed'),
      );
      const [pid] = policies.pids;
      if (pid === undefined) throw new Error('no model host');
      process.kill(pid, signal);
      await bench.service.whenEnded(runId);
      expect(policies.pids).not.toContain(pid);
      const failures = (await bench.attempts(runId)).filter(({ status }) => status !== 'completed');
      expect(failures.map(({ status, error }) => [signal, status, error?.code, error?.message])).toEqual([]);
      expect((await bench.store.readRecord(runId)).status).toBe('completed');
      expect(await bench.results(runId)).toEqual(await bench.results(calm.runId));
    }
  }, 60_000);

  it('shows its batches while it lives', async () => {
    const before = bench.events.length;
    await bench.evaluate(walk({ workerCount: 4 }));
    const views = bench.events
      .slice(before)
      .flatMap((event) => (event.name === 'run.live' ? (event.payload.live.batching ?? []) : []));
    const last = views.at(-1);
    expect(last).toMatchObject({ nodePath: 'policy', callers: 0, waiting: 0 });
    expect(last?.samples).toBeGreaterThan(16 * 12 - 1);
    expect(last?.sizes.slice(1).some((count) => count > 0)).toBe(true);
  }, 60_000);

  it('fails before its first episode when the model does not fit', async () => {
    const record = await bench.evaluate(walk({ graph: 'values', workerCount: 2 }));
    expect(record).toMatchObject({ status: 'failed', error: { code: 'model_failed' } });
    expect(record.error?.message).toContain('the model has no output "values"; it has logits');
    expect(await bench.attempts(record.runId)).toEqual([]);
  }, 60_000);
});
