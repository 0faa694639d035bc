// Hot path. Everything one run changes: pending inputs, iterIn slots, the ready queue, scope counters, containers.
// Routing a value and asking whether a node is ready must not allocate more than the inputs object itself.
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import { firingCap, graphStepBudget, scopeBudgets } from './budgets.ts';
import type { CompiledEdge, CompiledGraph, CompiledNode } from './compile.ts';
import { ContainerStore, type ContainerSnapshot } from './containers.ts';
import type { HookRunner } from './hooks.ts';
import type { FiringPhase, RunListener } from './listener.ts';
import { stopHandle } from './pivots.ts';
import { ReadyQueue } from './ready-queue.ts';
import type { ContainerAccess, FiringContext, NodeHandler, PortValues } from './ports.ts';

export interface RunOptions {
  readonly executionId: string;
  readonly clock: Clock;
  /** 32-bit policy seed of this execution. */
  readonly seed: number;
  /** From the request, else from the env panel. */
  readonly stepBudget?: number | undefined;
  readonly strictErrors: boolean;
  /** null: hooks of the graph do not run. */
  readonly hooks: HookRunner | null;
  readonly listener: RunListener | undefined;
  readonly checkpointLimit: number;
}

export interface NodeFailure {
  readonly nodeId: string;
  readonly nodeType: string;
  readonly path: string;
  readonly step: number;
  readonly phase: FiringPhase;
  readonly error: StudioError;
}

/** What a boundary keeps so that the run can go on from there again. */
export interface Checkpoint {
  readonly step: number;
  readonly containers: ContainerSnapshot;
  /** The root iterIn's slots after the hand-off; filled in by it. */
  slots: PortValues;
}

export type MutableValues = Record<string, unknown>;

/** Why the firing loop ended before its queue drained or its root scope ended. */
export type Ending = 'halted' | 'strict' | 'stopped' | 'firing_cap';

export class RunState {
  readonly graph: CompiledGraph;
  readonly options: RunOptions;
  readonly listener: RunListener | undefined;
  readonly queue: ReadyQueue;
  readonly containers: ContainerStore;
  readonly budgets: readonly number[];
  readonly graphBudget: number;
  readonly cap: number;
  readonly abort = new AbortController();
  readonly failures: NodeFailure[] = [];
  readonly checkpoints: Checkpoint[] = [];
  readonly childHandlers = new Map<string, NodeHandler>();
  /** Inputs of a node that wait for its next firing; an iterIn's slots. */
  readonly pending: MutableValues[];
  readonly #pendingCount: Int32Array;
  readonly #requiredCount: Int32Array;
  readonly scopeSteps: Int32Array;
  readonly scopeEnded: Uint8Array;
  readonly finalEmitted: Uint8Array;
  /** A graphOut's value inside a loop, released when the loop ends. */
  readonly latched: unknown[];
  /** What a graphOut received last. */
  readonly received: (PortValues | undefined)[];
  readonly verdictReady: number[] = [];
  readonly #contexts: (NodeContext | undefined)[];
  step = 0;
  firings = 0;
  phase: FiringPhase = 'loop';
  ending: Ending | undefined;
  rootEndedBy: 'stop' | 'budget' | undefined;

  constructor(graph: CompiledGraph, options: RunOptions) {
    const count = graph.nodes.length;
    this.graph = graph;
    this.options = options;
    this.listener = options.listener;
    this.graphBudget = graphStepBudget({ override: options.stepBudget, graphBudget: graph.stepBudget });
    this.budgets = scopeBudgets(graph.scopes, this.graphBudget, options.stepBudget !== undefined);
    this.cap = firingCap(graph.scopes, this.budgets, graph.outsideCount, this.graphBudget);
    this.queue = new ReadyQueue(count);
    this.containers = new ContainerStore(graph.containers);
    this.pending = graph.nodes.map(() => ({}));
    this.#pendingCount = new Int32Array(count);
    this.#requiredCount = new Int32Array(count);
    this.scopeSteps = new Int32Array(graph.scopes.length);
    this.scopeEnded = new Uint8Array(graph.scopes.length);
    this.finalEmitted = new Uint8Array(graph.scopes.length);
    this.latched = Array.from({ length: count });
    this.received = Array.from({ length: count });
    this.#contexts = Array.from({ length: count });
  }

  /** Puts a value on a port. Last write wins; list ports append, and take lists apart. */
  put(edge: CompiledEdge, value: unknown): void {
    const target = edge.target;
    const inputs = at(this.pending, target);
    const before = inputs[edge.targetHandle];
    if (edge.isList) {
      const list: unknown[] = Array.isArray(before) ? before : [];
      if (Array.isArray(value)) for (const member of value) list.push(member);
      else list.push(value);
      inputs[edge.targetHandle] = list;
    } else {
      inputs[edge.targetHandle] = value;
    }
    if (before !== undefined) return;
    if (edge.targetHandle !== stopHandle || this.graph.nodes[target]?.role !== 'iterOut') {
      this.#pendingCount[target] = (this.#pendingCount[target] ?? 0) + 1;
    }
    if (edge.required) this.#requiredCount[target] = (this.#requiredCount[target] ?? 0) + 1;
  }

  /**
   * All required inputs, else any input. An iterIn counts its slots; an iterOut does not count `stop`, so a bare
   * stop never makes an iteration.
   */
  isReady(target: number): boolean {
    if (this.#pendingCount[target] === 0) return false;
    const required = at(this.graph.nodes, target).requiredHandles.length;
    return required === 0 || this.#requiredCount[target] === required;
  }

  /** The pending inputs, which are then gone. */
  take(index: number): MutableValues {
    const inputs = at(this.pending, index);
    this.clear(index);
    return inputs;
  }

  clear(index: number): void {
    if (this.#pendingCount[index] === 0 && this.graph.nodes[index]?.role !== 'iterOut') return;
    this.pending[index] = {};
    this.#pendingCount[index] = 0;
    this.#requiredCount[index] = 0;
  }

  /** Writes an iterIn's slot from its partner. */
  carry(target: number, handle: string, value: unknown): void {
    const slots = at(this.pending, target);
    if (slots[handle] === undefined) this.#pendingCount[target] = (this.#pendingCount[target] ?? 0) + 1;
    slots[handle] = value;
  }

  /** Empties the slots that do not persist. */
  dropOneShotSlots(node: CompiledNode): void {
    const before = at(this.pending, node.index);
    this.setSlots(node, before, true);
  }

  setSlots(node: CompiledNode, from: PortValues, persistentOnly: boolean): void {
    const kept: MutableValues = {};
    let count = 0;
    let required = 0;
    for (const slot of node.slots) {
      const value = from[slot.handle];
      if (value === undefined || (persistentOnly && !slot.persist)) continue;
      kept[slot.handle] = value;
      count++;
      if (slot.required) required++;
    }
    this.pending[node.index] = kept;
    this.#pendingCount[node.index] = count;
    this.#requiredCount[node.index] = required;
  }

  signal(name: string): void {
    this.containers.signal(name);
    this.listener?.onSignal?.(name);
  }

  contextOf(node: CompiledNode): NodeContext {
    return (this.#contexts[node.index] ??= new NodeContext(this, node.id, node.granted));
  }

  /** Everything that waits is forgotten; containers, counters and node state stay. */
  forgetPending(): void {
    this.queue.clear();
    for (const node of this.graph.nodes) this.clear(node.index);
  }
}

/** An element that must be there: an index of the compiled graph. */
export function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new StudioError('internal', `no element ${index}`);
  return item;
}

/** What one node sees of its firings; reused, so that a firing allocates none. */
export class NodeContext implements FiringContext {
  readonly nodeId: string;
  readonly state = new Map<string, unknown>();
  readonly containers: ContainerAccess;
  readonly #run: RunState;
  entries: (readonly [key: string, value: unknown])[] = [];

  constructor(run: RunState, nodeId: string, granted: readonly string[]) {
    this.#run = run;
    this.nodeId = nodeId;
    this.containers = run.containers.accessFor(nodeId, granted);
  }

  get executionId(): string {
    return this.#run.options.executionId;
  }

  get step(): number {
    return this.#run.step;
  }

  get seed(): number {
    return this.#run.options.seed;
  }

  get signal(): AbortSignal {
    return this.#run.abort.signal;
  }

  log(key: string, value: unknown): void {
    if (this.#run.listener?.onFiring) this.entries.push([key, value]);
  }

  emitSignal(name: string): void {
    this.#run.signal(name);
  }
}
