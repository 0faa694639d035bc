// Hot path. The firing loop of one run as a generator: it runs on without a turn of the event loop until a node
// returns a promise or somebody wants it to wait, and yields only then.
import { isTruthy, type CompiledNode } from './compile.ts';
import { fire } from './firing.ts';
import { runHooks, type HookEvent } from './hooks.ts';
import type { PortValues } from './ports.ts';
import { deliver, emitFinals, emitFinalsOfLastHandOff, handOff, releaseLatches } from './routing.ts';
import { at, type RunState } from './run-state.ts';
import { attend, firedBy, settled, type Gate, type Steps } from './steps.ts';
import { verdict } from './verdict.ts';

const settleLimit = 64;

export function* execute(run: RunState, gate: Gate): Steps<void> {
  run.signal('run_start');
  yield* graphHook(run, 'GraphStart', { graph_name: run.graph.name, node_count: run.graph.nodes.length });
  for (const entry of run.graph.entries) run.queue.push(entry);
  yield* firingLoop(run, gate);
  emitFinalsOfLastHandOff(run);
  run.phase = 'verdict';
  yield* verdict(run, gate);
}

export function* graphHook(run: RunState, event: HookEvent, data: PortValues): Steps<void> {
  const runner = run.options.hooks;
  const hooks = run.graph.hooks.filter((hook) => hook.enabled && hook.event === event);
  if (!runner || hooks.length === 0) return;
  yield runHooks({ hooks, runner, event: { event, ...data }, signal: run.abort.signal });
}

function* firingLoop(run: RunState, gate: Gate): Steps<void> {
  const { queue, graph } = run;
  while (run.ending === undefined && run.rootEndedBy === undefined && queue.size > 0) {
    if (run.firings >= run.cap) {
      run.ending = 'firing_cap';
      return;
    }
    if (gate.wantsAttention) {
      const wait = gate.pass(run);
      if (wait) yield wait;
      if (wait || run.ending !== undefined) continue;
    }
    const index = queue.shift();
    if (index === undefined) return;
    const node = at(graph.nodes, index);
    if (isBarred(run, node)) {
      run.clear(index);
      continue;
    }
    if (node.role === 'iterIn' && !enterIteration(run, node)) continue;
    let outputs = fire(run, node);
    if (outputs instanceof Promise) outputs = yield* settled(outputs);
    if (run.ending !== undefined) return;
    run.firings++;
    if (node.role === 'iterOut') {
      yield* boundary(run, node, outputs ?? {}, gate);
      continue;
    }
    if (node.role === 'iterIn') run.dropOneShotSlots(node);
    deliver(run, node, outputs);
  }
}

/** The body of an inner loop that ended does not fire until its iterIn fires again. */
function isBarred(run: RunState, node: CompiledNode): boolean {
  return (
    node.scope >= 0 &&
    run.scopeEnded[node.scope] === 1 &&
    at(run.graph.scopes, node.scope).parent >= 0 &&
    node.role !== 'iterIn' &&
    node.role !== 'graphIn'
  );
}

/** False: a loop outside every other has ended and does not begin again. */
function enterIteration(run: RunState, node: CompiledNode): boolean {
  const scope = node.ownScope;
  if (run.scopeEnded[scope] === 1) {
    if (at(run.graph.scopes, scope).parent < 0) return false;
    run.scopeEnded[scope] = 0;
    run.scopeSteps[scope] = 0;
    run.finalEmitted[scope] = 0;
  }
  run.signal('step_start');
  return true;
}

/** The end of one iteration: record, settle, decide, hand off. */
function* boundary(run: RunState, iterOut: CompiledNode, values: PortValues, gate: Gate): Steps<void> {
  const scope = iterOut.ownScope;
  const isRoot = scope === run.graph.rootScope;
  const steps = record(run, scope, isRoot);
  run.phase = 'settle';
  yield* settle(run, scope, gate);
  run.phase = 'loop';
  if (run.ending !== undefined) {
    if (isRoot) emitFinals(run, iterOut, values);
    return;
  }
  const stops = isTruthy(values.stop);
  if (stops || steps >= at(run.budgets, scope)) {
    run.scopeEnded[scope] = 1;
    emitFinals(run, iterOut, values);
    // The iterOut keeps what it received: AgentCanvas does, and a loop that is entered again sees it.
    if (isRoot) run.rootEndedBy = stops ? 'stop' : 'budget';
    else releaseLatches(run, scope);
    return;
  }
  handOff(run, iterOut, values);
  const checkpoint = isRoot ? run.checkpoints.at(-1) : undefined;
  if (checkpoint?.step === run.step) checkpoint.slots = { ...at(run.pending, iterOut.partner) };
}

/** Iterations of the scope so far, this one included. */
function record(run: RunState, scope: number, isRoot: boolean): number {
  const steps = (run.scopeSteps[scope] ?? 0) + 1;
  run.scopeSteps[scope] = steps;
  if (isRoot) run.step++;
  run.signal('step_end');
  if (isRoot && run.options.checkpointLimit > 0 && !run.containers.isEmpty) {
    run.checkpoints.push({ step: run.step, containers: run.containers.snapshot(), slots: {} });
    if (run.checkpoints.length > run.options.checkpointLimit) run.checkpoints.shift();
  }
  run.listener?.onStep?.({
    scopeId: at(run.graph.scopes, scope).id,
    step: steps,
    isRoot,
    budget: at(run.budgets, scope),
  });
  return steps;
}

/** Fires what is left of this iteration; at the root loop's boundary also the sinks outside every loop. */
function* settle(run: RunState, scope: number, gate: Gate): Steps<void> {
  const isRoot = scope === run.graph.rootScope;
  const wanted = (index: number): boolean => {
    const node = at(run.graph.nodes, index);
    return node.role !== 'iterIn' && (node.scope === scope || (isRoot && node.scope < 0));
  };
  for (let count = 0; count < settleLimit; count++) {
    if (run.queue.size === 0) return;
    yield* attend(run, gate);
    if (run.ending !== undefined) return;
    const index = run.queue.takeFirst(wanted);
    if (index === undefined) return;
    const node = at(run.graph.nodes, index);
    const outputs = yield* firedBy(run, node);
    if (run.ending !== undefined) return;
    if (node.role === 'iterOut') run.clear(index);
    deliver(run, node, outputs);
  }
}
