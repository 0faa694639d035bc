// After the loop: what the root loop's final side feeds fires once each, in dependency order. graphOuts are not fired
// here, they keep the last value they received.
import type { CompiledGraph, CompiledNode } from './compile.ts';
import { arrive, isBorder } from './routing.ts';
import { at, type RunState } from './run-state.ts';
import type { PortValues } from './ports.ts';
import { attend, firedBy, type Gate, type Steps } from './steps.ts';

export function* verdict(run: RunState, gate: Gate): Steps<void> {
  const waiting = [...run.verdictReady];
  if (waiting.length === 0) return;
  const fired = new Set<number>();
  const upstream = upstreamOf(run.graph, waiting);
  /** Nodes put back in a row; after a full round of them, a node whose upstream never fires goes ahead. */
  let putBack = 0;
  for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
    const node = at(run.graph.nodes, index);
    if (fired.has(index) || !belongsHere(node)) continue;
    const isWaiting = upstream.get(index)?.some((other) => !fired.has(other)) ?? false;
    if (!run.isReady(index) || (isWaiting && putBack <= waiting.length)) {
      if (putBack > 2 * (waiting.length + 1)) return;
      waiting.push(index);
      putBack++;
      continue;
    }
    putBack = 0;
    yield* attend(run, gate);
    fired.add(index);
    const endingBefore = run.ending;
    const outputs = yield* firedBy(run, node);
    if (run.ending !== endingBefore) return;
    if (outputs)
      for (const next of deliverVerdict(run, node, outputs))
        if (!fired.has(next) && !waiting.includes(next)) waiting.push(next);
  }
}

function belongsHere(node: CompiledNode): boolean {
  return node.scope < 0 && node.role !== 'iterIn' && node.role !== 'iterOut' && node.role !== 'graphOut';
}

/** Routes, and gives the targets that are now ready. */
function deliverVerdict(run: RunState, node: CompiledNode, outputs: PortValues): readonly number[] {
  const ready: number[] = [];
  for (const edge of node.edges) {
    const target = at(run.graph.nodes, edge.target);
    if (target.role === 'graphOut' && target.scope >= 0) continue;
    const value = outputs[edge.sourceHandle] ?? (edge.whole ? outputs : outputs[edge.sourceHandle]);
    if (value !== undefined) ready.push(...arrive(run, edge, value));
    else if (target.role === 'graphOut') run.received[target.index] = { ...at(run.pending, target.index) };
    else if (run.isReady(edge.target)) ready.push(edge.target);
  }
  return ready;
}

/** For each node of the stage, those of the stage that feed it. */
function upstreamOf(graph: CompiledGraph, seeds: readonly number[]): ReadonlyMap<number, readonly number[]> {
  const upstream = new Map<number, number[]>();
  const seen = new Set(seeds);
  const open = [...seeds];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    for (const target of consumersOf(graph, index)) {
      const list = upstream.get(target) ?? [];
      list.push(index);
      upstream.set(target, list);
      if (seen.has(target)) continue;
      seen.add(target);
      open.push(target);
    }
  }
  return upstream;
}

/** Nodes of the stage that a node feeds, also through the border of a composite. */
function consumersOf(graph: CompiledGraph, index: number): readonly number[] {
  return at(graph.nodes, index).edges.flatMap(({ target }) => {
    const node = at(graph.nodes, target);
    if (isBorder(node)) return consumersOf(graph, target);
    return belongsHere(node) ? [target] : [];
  });
}
