// What the engine adds to a step: the same trivial environment (a) called in a loop, (b) through a graph of five nodes in
// this process, (c) through the same graph with replicas; beside a bare ping over the same kind of socket.
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../../main/base/clock.ts';
import { silentLogger } from '../../main/base/logger.ts';
import { graphDefinition, type GraphDefinition } from '../../main/contract/graph.ts';
import { compileGraph, type CompiledGraph } from '../../main/graph/compile.ts';
import { LoopRunner } from '../../main/graph/loop-runner.ts';
import { engineLayout } from '../../main/layout.ts';
import { createNodesetLayer } from '../../main/nodeset-layer.ts';
import type { GraphSession } from '../../main/nodeset/ports.ts';
import { median, root, saveResult, takeTurns, verdict, type Contender, type Measured } from './harness.ts';
import { startRawPing } from './raw-ping.ts';

const scratch = mkdtempSync(path.join(os.tmpdir(), 'bench-'));
const layout = engineLayout(new URL('../../main/layout.ts', import.meta.url).href);
let execution = 0;

/** observe -> [ iterIn -> encode -> act -> step -> iterOut ]: five nodes a step. */
function loopGraph(environment: string, stepConfig: Record<string, number> = {}): GraphDefinition {
  const port = (name: string): object => ({ name, wire_type: 'ANY' });
  const edge = (id: string, from: string, to: string): object => {
    const [source, sourceHandle] = from.split('.');
    const [target, targetHandle] = to.split('.');
    return { id, source, sourceHandle, target, targetHandle };
  };
  return graphDefinition.parse({
    name: 'bench',
    nodes: [
      { id: 'observe', type: `${environment}__observe` },
      { id: 'in', type: 'iterIn', config: { pairedWith: 'out', initPorts: [port('observation')] } },
      { id: 'encode', type: 'bench_policy__encode' },
      { id: 'act', type: 'bench_policy__act' },
      { id: 'step', type: `${environment}__step`, config: stepConfig },
      { id: 'out', type: 'iterOut', config: { pairedWith: 'in', ports: [port('observation')] } },
      { id: 'value', type: 'graphOut', config: { portName: 'last' } },
    ],
    edges: [
      edge('e1', 'observe.observation', 'in.init_observation'),
      edge('e2', 'in.init_observation', 'encode.observation'),
      edge('e3', 'in.iterout_observation', 'encode.observation'),
      edge('e4', 'encode.feature', 'act.feature'),
      edge('e5', 'act.action', 'step.action'),
      edge('e6', 'step.observation', 'out.observation'),
      edge('e7', 'step.done', 'out.stop'),
      edge('e8', 'out.final_observation', 'value.value'),
    ],
  });
}

/** Runs the graph in chunks until the window is over. */
async function driveGraph(graph: CompiledGraph, windowMs: number, chunk: number): Promise<number> {
  const untilMs = performance.now() + windowMs;
  let steps = 0;
  while (performance.now() < untilMs) {
    const result = await new LoopRunner(graph, {
      executionId: `bench-${execution++}`,
      stepBudget: chunk,
      checkpointLimit: 0,
    }).run();
    if (result.error || result.nodeErrors.length > 0)
      throw result.error ?? new Error(JSON.stringify(result.nodeErrors[0]));
    steps += result.steps;
  }
  return steps;
}

function throughReplicas(
  session: GraphSession,
  count: number,
  settings: { stepConfig?: Record<string, number>; chunk: number },
): Contender {
  const sets = session.initial.slice(0, count);
  const graphs = sets.map((set) => compileGraph(loopGraph('bench_env', settings.stepConfig), set.catalog));
  return {
    name: `(c) graph, ${count} replica${count > 1 ? 's' : ''}`,
    pids: () => sets.flatMap((set) => set.pids),
    work: async (windowMs) =>
      (await Promise.all(graphs.map((graph) => driveGraph(graph, windowMs, settings.chunk)))).reduce(
        (sum, steps) => sum + steps,
        0,
      ),
  };
}

await using layer = await createNodesetLayer({
  clock: systemClock,
  logger: silentLogger,
  layout,
  workspaceFolder: scratch,
  cacheFolder: path.join(scratch, 'cache'),
  folders: [{ folder: path.join(root, '.ci/bench/nodesets'), origin: 'workspace' }],
  isTrusted: async () => true,
  python: '',
});
await layer.registry.scan();

const overhead = await measureOverhead();
const scaling = await measureScaling();
const startUp = await measureStartUp();
saveResult('overhead', { ...overhead, ...scaling, ...startUp });

async function measureOverhead(): Promise<object> {
  await using local = await layer.registry.ensureNodesetsForGraph(['bench_local', 'bench_policy'], {
    replicaCount: 1,
  });
  await using remote = await layer.registry.ensureNodesetsForGraph(['bench_env', 'bench_policy'], {
    replicaCount: 4,
  });
  using control = await startRawPing(path.join(scratch, 'ping.sock'));
  const localCatalog = local.initial[0]?.catalog;
  if (!localCatalog) throw new Error('no catalog');
  const [encode, act, step] = ['bench_policy__encode', 'bench_policy__act', 'bench_local__step'].map((type) =>
    localCatalog.lookup(type)?.bind(type, {}),
  );
  if (!encode || !act || !step) throw new Error('the bench nodesets did not load');
  const context = {
    executionId: 'bare',
    nodeId: 'n',
    step: 0,
    seed: 0,
    signal: new AbortController().signal,
    state: new Map<string, unknown>(),
    log: () => {},
    emitSignal: () => {},
    containers: { granted: [], read: () => null, write: () => {}, evict: () => {} },
  };
  const graph = compileGraph(loopGraph('bench_local'), localCatalog);
  const contenders: Contender[] = [
    {
      name: 'bare ping over a socket',
      pids: () => [control.pid],
      work: async (windowMs) => {
        const untilMs = performance.now() + windowMs;
        let pings = 0;
        for (; performance.now() < untilMs; pings++) await control.ping();
        return pings;
      },
    },
    {
      name: '(a) bare loop in process',
      work: async (windowMs) => {
        const untilMs = performance.now() + windowMs;
        let observation: unknown = 0;
        let steps = 0;
        for (; steps % 1000 !== 0 || performance.now() < untilMs; steps++) {
          const feature = encode.forward({ observation }, context) as { feature: unknown };
          const action = act.forward({ feature: feature.feature }, context) as { action: unknown };
          ({ observation } = step.forward({ action: action.action }, context) as { observation: unknown });
        }
        return steps;
      },
    },
    { name: '(b) graph of five nodes in process', work: (windowMs) => driveGraph(graph, windowMs, 5000) },
    ...[1, 2, 4].map((count) => throughReplicas(remote, count, { chunk: 500 })),
  ];
  const measured = await takeTurns(contenders);
  return reportOverhead(measured);
}

function reportOverhead(measured: readonly Measured[]): object {
  const microseconds = (entry: Measured | undefined): number => 1e6 / (entry?.rate ?? Number.NaN);
  const [ping, bare, graph, one] = measured;
  const pingUs = microseconds(ping);
  const added = {
    graph: microseconds(graph) - microseconds(bare),
    replica: microseconds(one) - microseconds(bare),
  };
  console.table(
    measured.map((entry) => ({
      '': entry.name,
      'steps/s': Math.round(entry.rate),
      'best steps/s': Math.round(entry.best),
      'µs a step': round(microseconds(entry)),
      'CPU µs a step': round(entry.cpuUs),
      rounds: entry.rounds,
    })),
  );
  const goals = [
    {
      goal: '(b) adds at most 0.2 pings a step of five nodes',
      'µs added': round(added.graph),
      'in pings': round(added.graph / pingUs, 3),
      verdict: verdict(measured.slice(0, 3), added.graph / pingUs <= 0.2),
    },
    {
      goal: '(c) with one replica adds at most 2 pings a step',
      'µs added': round(added.replica),
      'in pings': round(added.replica / pingUs, 3),
      verdict: verdict(measured.slice(0, 4), added.replica / pingUs <= 2),
    },
  ];
  console.table(goals);
  return { steps: measured, overheadGoals: goals, pingUs };
}

async function measureScaling(): Promise<object> {
  await using session = await layer.registry.ensureNodesetsForGraph(['bench_env', 'bench_policy'], {
    replicaCount: 8,
  });
  const sleeping = await takeTurns(
    [1, 2, 4, 8].map((count) => throughReplicas(session, count, { stepConfig: { sleepMs: 5 }, chunk: 40 })),
    { rounds: 7, windowMs: 400 },
  );
  const computing = await takeTurns(
    [1, 2].map((count) => throughReplicas(session, count, { stepConfig: { computeMs: 2 }, chunk: 50 })),
    { rounds: 7, windowMs: 400 },
  );
  const rows = [
    ...[2, 4, 8].map((count, index) =>
      speedUp(`sleeps 5 ms, ${count} replicas`, sleeping[0], sleeping[index + 1], 0.9 * count),
    ),
    speedUp('computes 2 ms, 2 replicas', computing[0], computing[1], 1.5),
  ];
  console.table(rows);
  return { scalingGoals: rows };
}

function speedUp(name: string, one: Measured | undefined, many: Measured | undefined, goal: number): object {
  if (!one || !many) throw new Error('not measured');
  const ratio = many.rate / one.rate;
  return {
    environment: name,
    'times one replica': round(ratio, 2),
    goal: `>= ${goal}`,
    verdict: verdict([one, many], ratio >= goal),
  };
}

/** A nodeset that sleeps for two seconds when it starts: N of them must not take N times as long. */
async function measureStartUp(): Promise<object> {
  process.env['BENCH_START_UP_MS'] = '2000';
  const timeOf = async (replicaCount: number): Promise<number> => {
    const startMs = performance.now();
    await using _session = await layer.registry.ensureNodesetsForGraph(['bench_env', 'bench_policy'], {
      replicaCount,
    });
    return performance.now() - startMs;
  };
  await timeOf(1);
  const times: Record<number, number[]> = { 1: [], 4: [], 8: [] };
  for (let round = 0; round < 3; round++)
    for (const count of [1, 4, 8]) times[count]?.push(await timeOf(count));
  delete process.env['BENCH_START_UP_MS'];
  const oneMs = median(times[1] ?? []);
  const rows = [4, 8].map((count) => {
    const ms = median(times[count] ?? []);
    return {
      replicas: count,
      'ms until ready': Math.round(ms),
      'times one': round(ms / oneMs, 2),
      goal: '<= 1.3',
      verdict: ms / oneMs <= 1.3 ? 'met' : 'not met',
    };
  });
  console.table(rows);
  return { startUpGoals: rows, oneReplicaMs: oneMs };
}

function round(value: number, digits = 1): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
