// The module nodeset authors import as `agentcanvas`: types plus two functions that check and return their
// argument. It is the whole author API; what is not here is not promised.
import { Tensor, type DType, type TensorData } from '../../base/tensor.ts';
import { createRandom, deriveSeed, shuffled, type Random } from '../../base/random.ts';

export { Tensor, createRandom, deriveSeed, shuffled };
export type { DType, Random, TensorData };

export interface Port {
  readonly name: string;
  /** IMAGE, DEPTH, POSE, DISCRETE_ACTION, CONTROL, TEXT, BOOL, METRICS, ANY; inputs also `LIST[T]`. */
  readonly wireType?: string;
  readonly description?: string;
  readonly optional?: boolean;
}

/** A field of the node's panel. `port_list` edits a list of ports. */
export interface ConfigFieldDefinition {
  readonly kind: 'label' | 'slider' | 'text' | 'select' | 'toggle' | 'textarea' | 'number' | 'port_list';
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly options?: readonly (string | { readonly value: unknown; readonly label: string })[];
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
}

export type Values = Readonly<Record<string, unknown>>;

/** State containers granted to the node in the graph; names are container ids. */
export interface GrantedContainers {
  /** The value, or a promise of it where the nodeset runs in a process of its own: always await it. */
  read(container: string, state: string, key?: string): unknown;
  write(container: string, state: string, value: unknown, key?: string): void | Promise<void>;
  evict(container: string, state: string, key: string): void | Promise<void>;
}

/** What a node knows about the firing it is in. */
export interface NodeCallContext {
  /** One run of the graph: an episode, or one Play. */
  readonly executionId: string;
  readonly nodeId: string;
  /** Root iteration, from 0. */
  readonly step: number;
  /** 32-bit policy seed of this execution; equal for every retry of an episode. */
  readonly seed: number;
  /** Aborted when the execution ends early. Long work should look at it. */
  readonly signal: AbortSignal;
  /** Kept for this node until the execution ends. */
  readonly state: Map<string, unknown>;
  readonly containers: GrantedContainers;
  /** One entry of the per-firing log; shown in Replay and at the node on the canvas. */
  log(key: string, value: unknown): void;
  /** Emits a custom signal (resets containers whose `reset_on` names it). */
  emitSignal(name: string): void;
}

/** One child firing of a fire list. */
export interface ChildFiring {
  readonly nodeType: string;
  readonly inputs: Values;
  readonly config?: Values;
  readonly label?: string;
  readonly captureOutputs?: boolean | readonly string[];
}

/** Returned by a node instead of outputs: the children fire in order, then their results are collapsed. */
export interface FireListResult {
  readonly fireList: readonly ChildFiring[];
  readonly aggregate?:
    | ((results: readonly Values[]) => Values)
    | { readonly recipe: 'passthrough_last' | 'merge_all' }
    | { readonly recipe: 'passthrough_index'; readonly index: number }
    | { readonly recipe: 'rename'; readonly names: Readonly<Record<string, string>> };
}

export type NodeResult = Values | FireListResult;

export interface NodeSpec {
  /** Tool name without the nodeset's prefix. */
  readonly name: string;
  readonly displayName?: string;
  readonly description?: string;
  readonly category?: string;
  readonly icon?: string;
  readonly kind?: string;
  readonly inputs?: readonly Port[];
  readonly outputs?: readonly Port[];
  readonly defaultConfig?: Values;
  readonly configFields?: readonly ConfigFieldDefinition[];
  readonly displayFields?: readonly {
    readonly kind: string;
    readonly port?: string;
    readonly label?: string;
  }[];
  /** Opt in to batching over all workers: `forwardBatch` is then called with one entry per caller. */
  readonly batched?: boolean;
  /** The input port that carries the sample; required when `batched`. */
  readonly batchDim?: string;
  /** Return a value, not a promise, where you can: the executor then does not wait for a turn of the event loop. */
  readonly forward: (
    inputs: Values,
    context: NodeCallContext,
    config: Values,
  ) => NodeResult | Promise<NodeResult>;
  readonly forwardBatch?: (
    samples: readonly Values[],
    config: Values,
  ) => readonly Values[] | Promise<readonly Values[]>;
}

export interface PanelFieldSpec {
  readonly name: string;
  readonly kind: 'select' | 'number' | 'text' | 'slider';
  readonly label?: string;
}

export interface PanelActionSpec {
  readonly name: string;
  readonly label?: string;
  readonly sideEffect?: 'run_start' | 'run_pause' | 'run_stop' | 'run_step' | 'signal' | 'none';
  readonly signal?: string;
}

export interface PanelStateSpec {
  readonly available?: boolean;
  readonly message?: string | null;
  readonly error?: string | null;
  readonly values: Values;
  readonly currentEpisode?: {
    readonly episodeId?: string;
    readonly sceneId?: string;
    readonly instruction?: string;
  } | null;
  /** Episodes of the split the fields select; null = unbounded. */
  readonly episodeCount?: number | null;
  readonly stepBudget?: number | null;
}

/**
 * The control plane of an environment. Fields are an ordered cascade (dataset -> split -> task -> episode_index).
 * An episode is chosen by pushing the selectors that changed, then `episode_index` (or `episode_id`), then `seed`
 * if there is such a field, then the action `play`, which resets; then `onLoad` is read.
 */
export interface EnvPanelSpec {
  readonly fields: readonly PanelFieldSpec[];
  readonly actions: readonly PanelActionSpec[];
  onLoad(): PanelStateSpec | Promise<PanelStateSpec>;
  onFieldChange(field: string, value: unknown): PanelStateSpec | Promise<PanelStateSpec>;
  onAction(action: string, values: Values): PanelStateSpec | Promise<PanelStateSpec>;
  getOptions(field: string): readonly unknown[] | Promise<readonly unknown[]>;
}

export interface MetricSpec {
  readonly name: string;
  readonly unit?: string;
  readonly kind?: 'rate' | 'mean' | 'count';
  readonly higherIsBetter?: boolean;
  /** What a failed episode counts as. Without it the metric is never the headline. */
  readonly worst?: number;
}

export interface EvalMetadataSpec {
  readonly envName: string;
  readonly splits?: readonly string[];
  /** Episodes per split; null = unbounded. */
  readonly episodeCounts?: Readonly<Record<string, number | null>> | null;
  /** Plain names use the built-in table: success, oracle_success, spl, ndtw, sdtw and the usual distances. */
  readonly metrics?: readonly (string | MetricSpec)[];
  readonly supportsSetEpisode?: boolean;
  readonly stepBudget?: number | null;
  readonly actionSpace?: unknown;
}

/** One living instance of a nodeset: in a replica, or in the engine for shared local ones. */
export interface NodesetInstance {
  readonly nodes: readonly NodeSpec[];
  readonly containers?: readonly Values[];
  readonly envPanel?: EnvPanelSpec;
  evalMetadata?(): EvalMetadataSpec | Promise<EvalMetadataSpec>;
  /** Slow work: loading data or weights. `create` itself must be quick and free of effects: it also runs for the manifest. */
  initialize?(): void | Promise<void>;
  shutdown?(): void | Promise<void>;
  /** An execution (episode or Play) ended: drop what was kept for it. */
  executionEnd?(executionId: string): void;
}

export interface NodesetSpec {
  /** Must equal the file's or folder's name. */
  readonly name: string;
  readonly description?: string;
  /** `replicated`: one process per worker. `shared` (default): one instance for all. */
  readonly parallelism?: 'shared' | 'replicated';
  readonly defaultPerStepBudgetSec?: number;
  readonly startupTimeoutSec?: number;
  readonly expectedRamMb?: number;
  readonly expectedVramMb?: number;
  /** Deadlines that differ from the defaults, seconds: reset, step, call, firstCall. */
  readonly deadlinesSec?: Readonly<Record<string, number>>;
  create(): NodesetInstance;
}

export function defineNode(spec: NodeSpec): NodeSpec {
  return spec;
}

export function defineNodeset(spec: NodesetSpec): NodesetSpec {
  return spec;
}
