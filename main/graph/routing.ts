// Hot path. Where values go after a firing: along wires, to the final side of a loop that ended, out of the graphOuts
// it held, and back into the next iteration.
import type { CompiledEdge, CompiledNode } from './compile.ts';
import { carryPrefix, finalPrefix, stopHandle } from './pivots.ts';
import type { PortValues } from './ports.ts';
import { at, type RunState } from './run-state.ts';

/**
 * Along each outgoing wire in document order. A target is looked at even when this wire brought nothing: it may have
 * become ready through another one.
 */
export function route(run: RunState, node: CompiledNode, outputs: PortValues | null): void {
  for (const edge of node.edges) {
    if (outputs) {
      const value = outputs[edge.sourceHandle];
      if (value !== undefined) run.put(edge, value);
      else if (edge.whole) run.put(edge, outputs);
    }
    if (run.isReady(edge.target)) run.queue.push(edge.target);
  }
}

/** After an ordinary firing. A graphOut inside a loop holds its value until the loop ends. */
export function deliver(run: RunState, node: CompiledNode, outputs: PortValues | null): void {
  if (node.role === 'graphOut' && node.scope >= 0) {
    if (outputs) run.latched[node.index] = outputs.value;
    return;
  }
  route(run, node, outputs);
}

/** The final side of a loop, once per time it ends. Targets that are ready go to the verdict stage or the queue. */
export function emitFinals(run: RunState, iterOut: CompiledNode, values: PortValues): void {
  const scope = iterOut.ownScope;
  if (run.finalEmitted[scope] === 1) return;
  run.finalEmitted[scope] = 1;
  for (const edge of iterOut.edges) {
    if (!edge.sourceHandle.startsWith(finalPrefix)) continue;
    const name = edge.sourceHandle.slice(finalPrefix.length);
    const value = name === stopHandle ? true : values[name];
    if (value === undefined) continue;
    for (const next of arrive(run, edge, value)) {
      if (scope !== run.graph.rootScope) run.queue.push(next);
      else if (!run.verdictReady.includes(next)) run.verdictReady.push(next);
    }
  }
}

/**
 * A value after a loop: graphOuts keep it without firing, and those that are the border of a composite pass it on.
 * Gives the other nodes that became ready.
 */
export function arrive(run: RunState, edge: CompiledEdge, value: unknown): readonly number[] {
  run.put(edge, value);
  const target = at(run.graph.nodes, edge.target);
  if (target.role !== 'graphOut') return run.isReady(edge.target) ? [edge.target] : [];
  if (target.scope >= 0) {
    run.latched[target.index] = value;
    return [];
  }
  run.received[target.index] = { ...at(run.pending, target.index) };
  return isBorder(target) ? target.edges.flatMap((next) => arrive(run, next, value)) : [];
}

/**
 * A graphOut that stayed when its composite was flattened, because the composite holds a loop: it passes its value on
 * and is no output of the graph.
 */
export function isBorder(node: CompiledNode): boolean {
  return node.role === 'graphOut' && node.scope < 0 && node.path.includes(' > ');
}

/** A run that ended without a boundary of its root loop: what the iterIn still holds of the last hand-off. */
export function emitFinalsOfLastHandOff(run: RunState): void {
  const scope = run.graph.scopes[run.graph.rootScope];
  if (!scope || run.finalEmitted[run.graph.rootScope] === 1) return;
  const slots = at(run.pending, scope.iterIn);
  const iterOut = at(run.graph.nodes, scope.iterOut);
  emitFinals(
    run,
    iterOut,
    Object.fromEntries(iterOut.carried.map((name) => [name, slots[carryPrefix + name] ?? null])),
  );
}

/** A loop inside another ended: its graphOuts give what they held. */
export function releaseLatches(run: RunState, scope: number): void {
  for (const index of run.graph.scopes[scope]?.graphOuts ?? []) {
    const value = run.latched[index];
    if (value === undefined || value === null) continue;
    for (const edge of at(run.graph.nodes, index).edges) {
      run.put(edge, value);
      if (run.isReady(edge.target)) run.queue.push(edge.target);
    }
  }
}

/** Into the next iteration: each carried value to its slot, and the iterIn is queued. `stop` is not carried. */
export function handOff(run: RunState, iterOut: CompiledNode, values: PortValues): void {
  for (const name of iterOut.carried) {
    const value = values[name];
    if (value !== undefined) run.carry(iterOut.partner, carryPrefix + name, value);
  }
  run.queue.push(iterOut.partner);
  run.clear(iterOut.index);
}
