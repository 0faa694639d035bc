// What the graph layer needs from others: node types to look up, and nothing else. Nodesets and inference
// implement these; the executor never learns where a forward runs.
import type { NodeManifest } from '../contract/nodeset.ts';

export type PortValues = Readonly<Record<string, unknown>>;

/** Containers as one node sees them: only those granted to it. Throws `not_found` for others. */
export interface ContainerAccess {
  /** Ids granted to this node, in the graph's order. */
  readonly granted: readonly string[];
  read(container: string, state: string, key?: string): unknown;
  write(container: string, state: string, value: unknown, key?: string): void;
  evict(container: string, state: string, key: string): void;
}

/** What a node knows about the firing it is in. One object per node and run, reused: read it, do not keep it. */
export interface FiringContext {
  readonly executionId: string;
  readonly nodeId: string;
  /** Root iteration, from 0. */
  readonly step: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly state: Map<string, unknown>;
  readonly containers: ContainerAccess;
  log(key: string, value: unknown): void;
  emitSignal(name: string): void;
}

export interface ChildFiring {
  readonly nodeType: string;
  readonly inputs: PortValues;
  readonly config: PortValues;
  readonly label: string;
  /** False: its outputs are not collected. A list: only these handles are. */
  readonly captureOutputs: boolean | readonly string[];
}

export type FireRecipe =
  | { readonly recipe: 'passthrough_last' | 'merge_all' }
  | { readonly recipe: 'passthrough_index'; readonly index: number }
  /** Renames the handles of what `inner` gives; without `inner`, of the last child's outputs. */
  | {
      readonly recipe: 'rename';
      readonly names: Readonly<Record<string, string>>;
      readonly inner?: FireRecipe;
    }
  /** The node's own aggregate, wherever it lives (a function, or a call to its host). */
  | {
      readonly recipe: 'own';
      readonly aggregate: (results: readonly PortValues[]) => PortValues | Promise<PortValues>;
    };

/** Instead of outputs. A class so that the executor can tell it from a values object at no cost. */
export class FireList {
  readonly firings: readonly ChildFiring[];
  readonly collapse: FireRecipe;
  constructor(firings: readonly ChildFiring[], collapse: FireRecipe) {
    this.firings = firings;
    this.collapse = collapse;
  }
}

/** Thrown by a node to end the run at once, as a normal end. */
export class StopExecution extends Error {
  override readonly name = 'StopExecution';
}

export type ForwardResult = PortValues | FireList;

/** One node of one graph, bound to its resolved config. A returned value is used in the same turn; a promise is awaited. */
export interface NodeHandler {
  forward(inputs: PortValues, context: FiringContext): ForwardResult | Promise<ForwardResult>;
  /** The execution ended; drop what was kept for it. */
  end?(executionId: string): void;
}

export interface NodeType {
  readonly manifest: NodeManifest;
  /** `config` is defaultConfig overlaid with the node's own. */
  bind(nodeId: string, config: PortValues): NodeHandler;
}

/** Node types by name: built-ins plus what the graph's nodesets provide. One per worker where nodesets are replicated. */
export interface NodeCatalog {
  lookup(nodeType: string): NodeType | undefined;
}

/** Ports without anything that runs: enough to draw, validate and flatten a graph. */
export interface ManifestSource {
  manifestOf(nodeType: string): NodeManifest | undefined;
}

export type { ChatMessage, ChatPort, ChatReply, ChatRequest } from './builtin/chat-port.ts';
