// Children of a fire list: they fire in order, cannot nest, see the containers of the node that fired them, and
// collapse into that node's outputs.
import { StudioError } from '../base/errors.ts';
import type { CompiledNode } from './compile.ts';
import { describeForHook, matchingHooks, runHooks, type HookEvent } from './hooks.ts';
import { FireList, type ChildFiring, type FireRecipe, type NodeType, type PortValues } from './ports.ts';
import { NodeContext, type RunState } from './run-state.ts';

const notAsChild: ReadonlySet<string> = new Set(['iterIn', 'iterOut', 'graphIn', 'graphOut']);

/** Rejects at the first child that fails; the children after it do not fire. */
export async function runFireList(run: RunState, node: CompiledNode, list: FireList): Promise<PortValues> {
  const results: PortValues[] = [];
  for (const [index, child] of list.firings.entries()) {
    results.push(captured(child, await fireChild({ run, node, child, index })));
  }
  return collapse(list.collapse, results);
}

function captured(child: ChildFiring, outputs: PortValues): PortValues {
  const { captureOutputs } = child;
  if (captureOutputs === true) return outputs;
  if (captureOutputs === false) return {};
  return Object.fromEntries(Object.entries(outputs).filter(([handle]) => captureOutputs.includes(handle)));
}

export async function collapse(recipe: FireRecipe, results: readonly PortValues[]): Promise<PortValues> {
  switch (recipe.recipe) {
    case 'passthrough_last':
      return results.at(-1) ?? {};
    case 'passthrough_index':
      return results[recipe.index] ?? {};
    case 'merge_all':
      return Object.assign({}, ...results);
    case 'rename': {
      const inner = await collapse(recipe.inner ?? { recipe: 'passthrough_last' }, results);
      return Object.fromEntries(
        Object.entries(inner).map(([handle, value]) => [recipe.names[handle] ?? handle, value]),
      );
    }
    case 'own':
      return recipe.aggregate(results);
  }
}

interface Child {
  readonly run: RunState;
  readonly node: CompiledNode;
  readonly child: ChildFiring;
  readonly index: number;
}

async function fireChild(request: Child): Promise<PortValues> {
  const { run, node, child, index } = request;
  if (notAsChild.has(child.nodeType)) {
    throw new StudioError(
      'node_failed',
      `a fire list cannot fire '${child.nodeType}': pivots and boundaries belong to the graph`,
    );
  }
  const type = run.graph.catalog.lookup(child.nodeType);
  if (!type) {
    throw new StudioError(
      'unknown_node_type',
      `fire list child ${index}: no loaded nodeset provides '${child.nodeType}'`,
    );
  }
  const childId = `${node.id}::dyn${index}`;
  const before = await childHooks(request, childId, 'PreNodeExecute', {
    inputs: describeForHook(child.inputs),
  });
  if (before?.action === 'block') return {};
  const inputs = before?.modifiedData ? { ...child.inputs, ...before.modifiedData } : child.inputs;
  const outputs = await forwardChild(request, childId, type, inputs);
  const after = await childHooks(request, childId, 'PostNodeExecute', {
    outputs: describeForHook(outputs),
    error: null,
  });
  return after?.modifiedData ?? outputs;
}

async function childHooks(
  { run, child }: Child,
  childId: string,
  event: HookEvent,
  data: PortValues,
): ReturnType<typeof runHooks> {
  const runner = run.options.hooks;
  const hooks = runner ? matchingHooks(run.graph.hooks, event, { id: childId, type: child.nodeType }) : [];
  if (!runner || hooks.length === 0) return { action: 'continue' };
  const about = { event, node_type: child.nodeType, node_id: childId, step: run.step };
  return runHooks({ hooks, runner, event: { ...about, ...data }, signal: run.abort.signal });
}

async function forwardChild(
  { run, node, child }: Child,
  childId: string,
  type: NodeType,
  inputs: PortValues,
): Promise<PortValues> {
  const handler = type.bind(childId, { ...type.manifest.defaultConfig, ...child.config });
  run.childHandlers.set(childId, handler);
  const context = new NodeContext(run, childId, node.granted);
  const path = `${node.path} > ${child.label || child.nodeType}`;
  const start = {
    nodeId: childId,
    nodeType: child.nodeType,
    path,
    step: run.step,
    phase: run.phase,
    inputs,
    parentId: node.id,
  };
  run.listener?.onFiringStart?.(start);
  const startedMs = run.options.clock.monotonic();
  const finish = (outputs: PortValues | null, error: StudioError | null): void =>
    run.listener?.onFiring?.({
      ...start,
      outputs,
      error,
      durationMs: run.options.clock.monotonic() - startedMs,
      log: context.entries,
    });
  try {
    const outputs = await handler.forward(inputs, context);
    if (outputs instanceof FireList)
      throw new StudioError('node_failed', `${path} returned a fire list; fire lists cannot nest`);
    if (outputs.error != null && !type.manifest.outputPorts.some((port) => port.name === 'error')) {
      throw new StudioError('node_failed', errorText(outputs.error));
    }
    finish(outputs, null);
    return outputs;
  } catch (thrown) {
    finish(
      null,
      thrown instanceof StudioError
        ? thrown
        : new StudioError('node_failed', String(thrown), { cause: thrown }),
    );
    throw thrown;
  }
}

export function errorText(error: unknown): string {
  return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error));
}
