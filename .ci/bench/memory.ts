// 10,000 episodes through the whole engine with two replicas: the heap after a collection must stay flat.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { evalConfig } from '../../main/contract/eval-config.ts';
import { createStudio, type Studio } from '../../main/studio.ts';
import { root, saveResult } from './harness.ts';

const episodes = 10_000;
const probeEvery = 1000;
const edges = [
  ['observe.observation', 'in.init_observation'],
  ['in.init_observation', 'encode.observation'],
  ['in.iterout_observation', 'encode.observation'],
  ['encode.feature', 'act.feature'],
  ['act.action', 'step.action'],
  ['step.observation', 'out.observation'],
  ['step.done', 'out.stop'],
  ['out.final_observation', 'value.value'],
].map(([from = '', to = ''], index) => ({
  id: `e${index}`,
  source: from.split('.')[0],
  sourceHandle: from.split('.')[1],
  target: to.split('.')[0],
  targetHandle: to.split('.')[1],
}));
const graph = {
  name: 'memory',
  step_budget: 5,
  nodes: [
    { id: 'observe', type: 'bench_env__observe' },
    {
      id: 'in',
      type: 'iterIn',
      config: { pairedWith: 'out', initPorts: [{ name: 'observation', wire_type: 'ANY' }] },
    },
    { id: 'encode', type: 'bench_policy__encode' },
    { id: 'act', type: 'bench_policy__act' },
    { id: 'step', type: 'bench_env__step' },
    {
      id: 'out',
      type: 'iterOut',
      config: { pairedWith: 'in', ports: [{ name: 'observation', wire_type: 'ANY' }] },
    },
    { id: 'value', type: 'graphOut', config: { portName: 'last' } },
  ],
  edges,
};

const workspace = await mkdtemp(path.join(os.tmpdir(), 'bench memory '));
process.env['AGENTCANVAS_HOME'] = path.join(workspace, 'home');
await mkdir(path.join(workspace, 'graphs'));
await writeFile(path.join(workspace, 'graphs', 'memory.json'), JSON.stringify(graph));
await writeFile(
  path.join(workspace, 'settings.json'),
  JSON.stringify({ nodeset_folders: [path.join(root, '.ci/bench/nodesets')] }),
);
await using studio = await createStudio({ host: 'cli', workspace, trust: [path.join(root, '.ci/bench')] });
const rows = await probe(studio);
console.table(rows);
const [first, last] = [rows[1], rows.at(-1)];
const growthMb = (last?.['heap MB'] ?? 0) - (first?.['heap MB'] ?? 0);
console.log(
  `Heap after collection: ${growthMb.toFixed(1)} MB more at ${last?.episodes} episodes than at ${first?.episodes}.`,
);
saveResult('memory', { rows, growthMb });

async function probe({
  dispatcher,
  feed,
}: Studio): Promise<{ episodes: number; 'heap MB': number; 'rss MB': number; seconds: number }[]> {
  const found: { episodes: number; 'heap MB': number; 'rss MB': number; seconds: number }[] = [];
  const startMs = performance.now();
  const finished = Promise.withResolvers<void>();
  const take = (done: number): void => {
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    found.push({
      episodes: done,
      'heap MB': Math.round(heapUsed / 1e5) / 10,
      'rss MB': Math.round(rss / 1e6),
      seconds: Math.round((performance.now() - startMs) / 1000),
    });
  };
  feed.subscribe((message) => {
    if (message.name === 'run.finished') finished.resolve();
    if (message.name !== 'run.live') return;
    const { planned, notRun } = message.payload.live.summary.counts;
    if (planned - notRun >= found.length * probeEvery) take(planned - notRun);
  });
  const config = evalConfig.parse({ graph: 'memory', episodes, workerCount: 2, recording: 'none' });
  const reply = await dispatcher.dispatch('runs.start', { config });
  if (!reply.ok) throw new Error(reply.error.message);
  await finished.promise;
  take(episodes);
  return found;
}
