// Hot path. One firing of one node: inputs taken, hooks around, forward called, failure judged. A handler that
// returns a value costs no promise; a run that nobody watches builds no events.
import { StudioError, toStudioError } from '../base/errors.ts';
import type { CompiledNode } from './compile.ts';
import { errorText, runFireList } from './fire-list.ts';
import { describeForHook, runHooks, type HookRunner } from './hooks.ts';
import type { FiringStart } from './listener.ts';
import { FireList, StopExecution, type ForwardResult, type PortValues } from './ports.ts';
import { at, type RunState } from './run-state.ts';

/** Outputs, or null when the node failed, stopped the run, or had nothing to give. */
export type Fired = PortValues | null;

export function fire(run: RunState, node: CompiledNode): Fired | Promise<Fired> {
  const inputs = inputsOf(run, node);
  const { hooks } = run.options;
  if (hooks && (node.beforeHooks.length > 0 || node.afterHooks.length > 0))
    return fireWithHooks(run, node, inputs, hooks);
  return fireOnce(run, node, inputs);
}

/** An iterIn keeps its slots and an iterOut its inputs until the boundary has handed them on. */
function inputsOf(run: RunState, node: CompiledNode): PortValues {
  if (node.role === 'iterIn' || node.role === 'iterOut') return { ...at(run.pending, node.index) };
  return run.take(node.index);
}

function fireOnce(run: RunState, node: CompiledNode, inputs: PortValues): Fired | Promise<Fired> {
  if (node.role === 'graphOut') run.received[node.index] = inputs;
  const { listener } = run;
  if (listener?.onFiring || listener?.onFiringStart) return fireObserved(run, node, inputs);
  return forward(run, node, inputs);
}

function forward(run: RunState, node: CompiledNode, inputs: PortValues): Fired | Promise<Fired> {
  if (node.role === 'viewer') show(run, node, inputs);
  let result: ForwardResult | Promise<ForwardResult>;
  try {
    result = node.handler.forward(inputs, run.contextOf(node));
  } catch (thrown) {
    return failed(run, node, thrown);
  }
  if (result instanceof Promise) {
    return result.then(
      (value) => judged(run, node, value),
      (thrown: unknown) => failed(run, node, thrown),
    );
  }
  return judged(run, node, result);
}

function judged(run: RunState, node: CompiledNode, result: ForwardResult): Fired | Promise<Fired> {
  if (result instanceof FireList) {
    return runFireList(run, node, result).then(
      (outputs) => judgedOutputs(run, node, outputs),
      (thrown: unknown) => failed(run, node, thrown),
    );
  }
  return judgedOutputs(run, node, result);
}

function judgedOutputs(run: RunState, node: CompiledNode, outputs: PortValues): Fired {
  if (typeof outputs !== 'object' || outputs === null) {
    const got = outputs === null ? 'null' : typeof outputs;
    return failed(
      run,
      node,
      new StudioError('node_failed', `forward must return an object of outputs, got ${got}`),
    );
  }
  if (outputs.error == null || node.declaresError) return outputs;
  return failed(run, node, new StudioError('node_failed', errorText(outputs.error)));
}

function failed(run: RunState, node: CompiledNode, thrown: unknown): null {
  if (thrown instanceof StopExecution) {
    run.ending ??= 'halted';
    return null;
  }
  if (run.abort.signal.aborted) {
    run.ending ??= 'stopped';
    return null;
  }
  const error = toStudioError(thrown, 'node_failed').within({ nodePath: node.path, step: run.step });
  run.failures.push({
    nodeId: node.id,
    nodeType: node.type,
    path: node.path,
    step: run.step,
    phase: run.phase,
    error,
  });
  if (run.options.strictErrors) run.ending ??= 'strict';
  return null;
}

function show(run: RunState, node: CompiledNode, inputs: PortValues): void {
  run.listener?.onViewer?.({ nodeId: node.id, nodeType: node.type, step: run.step, fields: inputs });
}

function fireObserved(run: RunState, node: CompiledNode, inputs: PortValues): Fired | Promise<Fired> {
  const start: FiringStart = {
    nodeId: node.id,
    nodeType: node.type,
    path: node.path,
    step: run.step,
    phase: run.phase,
    inputs,
  };
  run.listener?.onFiringStart?.(start);
  const failuresBefore = run.failures.length;
  const startedMs = run.options.clock.monotonic();
  const finish = (outputs: Fired): Fired => {
    const context = run.contextOf(node);
    const log = context.entries;
    if (log.length > 0) context.entries = [];
    const error = run.failures[failuresBefore]?.error ?? null;
    run.listener?.onFiring?.({
      ...start,
      outputs,
      error,
      durationMs: run.options.clock.monotonic() - startedMs,
      log,
    });
    return outputs;
  };
  const result = forward(run, node, inputs);
  return result instanceof Promise ? result.then(finish) : finish(result);
}

async function fireWithHooks(
  run: RunState,
  node: CompiledNode,
  inputs: PortValues,
  runner: HookRunner,
): Promise<Fired> {
  const { signal } = run.abort;
  const about = { node_type: node.type, node_id: node.id, step: run.step };
  const before = await runHooks({
    hooks: node.beforeHooks,
    runner,
    event: { event: 'PreNodeExecute', ...about, inputs: describeForHook(inputs) },
    signal,
  });
  if (before.action === 'block') return {};
  const failuresBefore = run.failures.length;
  const outputs = await fireOnce(
    run,
    node,
    before.modifiedData ? { ...inputs, ...before.modifiedData } : inputs,
  );
  const error = run.failures[failuresBefore]?.error.message ?? null;
  const after = await runHooks({
    hooks: node.afterHooks,
    runner,
    event: { event: 'PostNodeExecute', ...about, outputs: describeForHook(outputs), error },
    signal,
  });
  return outputs && after.modifiedData ? after.modifiedData : outputs;
}
