// This product as a contender: the shipped `gymnasium` nodeset, one process per environment or several in one, each
// environment driven by a graph of five nodes a step with its policy inside the engine.
import { createHash } from 'node:crypto';
import os from 'node:os';
import { graphDefinition, type GraphDefinition } from '../../../main/contract/graph.ts';
import { compileGraph, type CompiledGraph } from '../../../main/graph/compile.ts';
import type { RunListener } from '../../../main/graph/listener.ts';
import { LoopRunner } from '../../../main/graph/loop-runner.ts';
import { Tensor } from '../../../main/base/tensor.ts';
import type { NodesetRegistry, ReplicaSet } from '../../../main/nodeset/ports.ts';
import { loopEdges } from './loop-edges.ts';
import type { Cell, Checked, Peer } from './peers.ts';

/** A run of the graph lasts about this long, then looks at the time. */
const chunkMs = 40;
let executions = 0;

export async function startStudio(
  registry: NodesetRegistry,
  cell: Cell,
  { name, envsPerProcess }: { readonly name: string; readonly envsPerProcess: number },
): Promise<Peer> {
  const { environment, count, actionsFile } = cell;
  const session = await registry.ensureNodesetsForGraph(['gymnasium', 'bench_actions'], {
    replicaCount: count,
    envsPerProcess,
  });
  const pids = [...new Set(session.initial.flatMap((set) => set.pids))];
  // The app's children are nicer than others; here all contenders are equal to whatever else runs.
  for (const pid of pids) os.setPriority(pid, os.getPriority());
  const drivers: Driver[] = [];
  for (const [slot, set] of session.initial.entries()) {
    await set.panel('gymnasium').changeField('env_id', `endless_environments:${environment.id}`);
    const driver = new Driver(set, compileGraph(loopGraph(actionsFile, slot), set.catalog));
    await driver.reset(slot);
    drivers.push(driver);
  }
  return {
    name,
    pids: () => pids,
    work: async (windowMs) => {
      const untilMs = performance.now() + windowMs;
      const done = await Promise.all(drivers.map((driver) => driver.workUntil(untilMs)));
      return done.reduce((sum, steps) => sum + steps, 0);
    },
    check: async (steps, firstSeed): Promise<Checked> => {
      const checked = await Promise.all(drivers.map((driver, slot) => driver.check(steps, firstSeed + slot)));
      return { hashes: checked.map(({ hash }) => hash), returns: checked.map(({ total }) => total) };
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

/** observe -> [ iterIn -> encode -> act -> step -> iterOut ]: five nodes a step. */
function loopGraph(file: string, slot: number): GraphDefinition {
  const ports = [{ name: 'observation', wire_type: 'ANY' }];
  return graphDefinition.parse({
    name: 'bench',
    nodes: [
      { id: 'observe', type: 'gymnasium__observe' },
      { id: 'in', type: 'iterIn', config: { pairedWith: 'out', initPorts: ports } },
      { id: 'encode', type: 'bench_actions__encode' },
      { id: 'act', type: 'bench_actions__act', config: { file, slot } },
      { id: 'step', type: 'gymnasium__step' },
      { id: 'out', type: 'iterOut', config: { pairedWith: 'in', ports } },
      { id: 'value', type: 'graphOut', config: { portName: 'last' } },
    ],
    edges: loopEdges(),
  });
}

class Driver {
  readonly #set: ReplicaSet;
  readonly #graph: CompiledGraph;
  #chunk = 20;

  constructor(set: ReplicaSet, graph: CompiledGraph) {
    this.#set = set;
    this.#graph = graph;
  }

  async reset(seed: number): Promise<void> {
    const panel = this.#set.panel('gymnasium');
    await panel.changeField('episode_index', seed);
    const { values } = await panel.load();
    const { error } = await panel.act('play', values);
    if (error != null) throw new Error(String(error));
  }

  async workUntil(untilMs: number): Promise<number> {
    let done = 0;
    for (let startMs = performance.now(); startMs < untilMs;) {
      done += await this.#run(this.#chunk);
      const endMs = performance.now();
      this.#chunk = Math.max(5, Math.round((this.#chunk * chunkMs) / (endMs - startMs)));
      startMs = endMs;
    }
    return done;
  }

  async check(steps: number, seed: number): Promise<{ hash: string; total: number }> {
    const hash = createHash('sha256');
    let total = 0;
    await this.reset(seed);
    await this.#run(steps, {
      onFiring: ({ nodeId, outputs }) => {
        if (nodeId !== 'step') return;
        const observation = outputs?.['observation'];
        if (!(observation instanceof Tensor)) throw new Error('an observation that is no array');
        hash.update(observation.bytes);
        total += Number(outputs?.['reward']);
      },
    });
    return { hash: hash.digest('hex'), total };
  }

  async #run(stepBudget: number, listener?: RunListener): Promise<number> {
    const executionId = `bench-python-${executions++}`;
    const result = await new LoopRunner(this.#graph, {
      executionId,
      stepBudget,
      checkpointLimit: 0,
      ...(listener && { listener }),
    }).run();
    this.#set.endExecution(executionId);
    if (result.error || result.nodeErrors.length > 0)
      throw result.error ?? new Error(JSON.stringify(result.nodeErrors[0]?.error.message));
    return result.steps;
  }
}
