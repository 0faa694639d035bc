// What evaluation, Play and the hosts may ask of nodesets. One session per run or Play: it keeps the versions of
// the nodesets it started with, and disposing it stops every process it started.
import type {
  FiringContext,
  ManifestSource,
  NodeCatalog,
  NodeHandler,
  NodeType,
  PortValues,
} from '../graph/ports.ts';
import type {
  EvalMetadata,
  NodesetManifest,
  NodesetSummary,
  PanelInfo,
  PanelState,
} from '../contract/nodeset.ts';
import type { SpawnPlace } from '../contract/spawners.ts';
import type { PlaceCheck } from './spawners/check-place.ts';
import type { StudioError } from '../base/errors.ts';

/** A stage of loading one nodeset or replica, for progress lines. */
export interface LoadStage {
  readonly nodeset: string;
  /** `minivln#3`, or the nodeset's name for shared ones. */
  readonly instance: string;
  readonly stage: 'resolving' | 'starting' | 'importing' | 'initialising' | 'ready' | 'failed' | 'stopped';
  readonly elapsedMs: number;
  readonly message?: string;
  readonly logTail?: readonly string[];
}

export interface EnsureReport {
  readonly loaded: readonly string[];
  readonly alreadyLoaded: readonly string[];
  readonly failed: readonly { readonly name: string; readonly error: StudioError }[];
  readonly unknown: readonly string[];
}

export interface CallLimits {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** An env panel, wherever it lives. Every call returns the panel's state after it. */
export interface EnvPanelClient {
  info(limits?: CallLimits): Promise<PanelInfo>;
  load(limits?: CallLimits): Promise<PanelState>;
  changeField(field: string, value: unknown, limits?: CallLimits): Promise<PanelState>;
  act(action: string, values: Readonly<Record<string, unknown>>, limits?: CallLimits): Promise<PanelState>;
  options(field: string, limits?: CallLimits): Promise<readonly unknown[]>;
}

export interface ReplicaDeath {
  readonly instance: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stderrTail: readonly string[];
  /** True when we ended it ourselves. */
  readonly expected: boolean;
  /** The process was shared, and it ended by the doing of another worker's environment. */
  readonly byMate?: boolean;
}

/**
 * One worker's processes: a tagged replica `name#k` of every replicated nodeset of the graph, in front of the
 * shared ones. After a timeout, a death or a kill it is disposed and never used again.
 */
export interface ReplicaSet extends AsyncDisposable {
  readonly slot: number;
  /** `minivln#0`, … */
  readonly instances: readonly string[];
  readonly pids: readonly number[];
  /** Node types for this worker: built-ins, shared nodesets, and proxies into these replicas. */
  readonly catalog: NodeCatalog;
  panel(nodeset: string): EnvPanelClient;
  /** Resolves when the first of its processes ends. */
  readonly death: Promise<ReplicaDeath>;
  /** Why every later call would be refused: one was given up unanswered, or a process died or called itself broken. */
  broken(): StudioError | undefined;
  /** Tells the hosts that an execution ended, so that they drop its state. Never throws. */
  endExecution(executionId: string): void;
  /** Kills at once and resolves when the processes are gone. */
  kill(): Promise<void>;
  rssBytes(): number | null;
  /** Where processes are shared: how long this worker's calls have waited behind those of others, so far. */
  readonly waitedForMatesMs?: (() => number) | undefined;
}

export interface GraphSession extends AsyncDisposable {
  readonly report: EnsureReport;
  readonly manifests: ManifestSource;
  readonly nodesets: readonly NodesetManifest[];
  /** Nodesets with an env panel, in the graph's order. */
  readonly envNodesets: readonly string[];
  /** The replica sets that were started with the session, slots 0 to replicaCount - 1. */
  readonly initial: readonly ReplicaSet[];
  /** Read from the running replica 0, so counts are real. */
  evalMetadata(nodeset: string, limits?: CallLimits): Promise<EvalMetadata>;
  /** A replacement, or one more. */
  startReplicaSet(slot: number, limits?: CallLimits): Promise<ReplicaSet>;
}

/** Wraps a batched node type so that its firings gather across workers. Provided by the inference layer. */
export interface BatchingPort {
  wrap(nodeType: NodeType, backend: BatchBackend): NodeType;
  /** Resolves when what the bound nodes need is loaded and fits; rejects with why not. */
  ready?(signal: AbortSignal): Promise<void>;
}

/** A caller's own part of a batched node: what depends on its execution never reaches the backend. */
export interface CallerSide {
  /** What it brings to the batch. Throws when the inputs cannot be used: then only this firing fails. */
  sampleOf(inputs: PortValues, context: FiringContext): PortValues;
  outputsOf(answer: PortValues, context: FiringContext): PortValues;
}

export interface BatchBackend {
  /** One call for all samples; answers in the same order. */
  call(
    samples: readonly Readonly<Record<string, unknown>>[],
    config: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Kills what hangs, so that the next call meets a fresh backend; `config` is that of the call that hung. */
  reset(config?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Without it inputs and outputs go through as they are. */
  callerSide?(nodeId: string, config: PortValues): CallerSide;
  /** Loads what the config names. Rejects with why it cannot be used. */
  ready?(config: PortValues, signal: AbortSignal): Promise<void>;
}

/** Node types the engine brings itself, beside the nodesets: always there, batched like those of a nodeset. */
export interface EngineNodes extends NodeCatalog, ManifestSource {
  /** Undefined where the node takes no batches. */
  batchBackend?(nodeType: string): BatchBackend | undefined;
}

export interface EnsureOptions {
  /** How many replica sets to start, in parallel; the first failure rolls all back. */
  readonly replicaCount: number;
  readonly signal?: AbortSignal;
  readonly onStage?: (stage: LoadStage) => void;
  readonly batching?: BatchingPort;
  /** Log files of the replicas go here; without it only the tails in memory are kept. */
  readonly logFolder?: string;
  /** Where processes per worker run, whatever the nodesets and Settings say. */
  readonly place?: SpawnPlace | undefined;
  /** So many workers share one process of a Python nodeset, where it runs on this machine. Default: 1. */
  readonly envsPerProcess?: number | undefined;
}

export interface NodesetRegistry extends AsyncDisposable {
  /**
   * Looks for nodesets in the library and workspace. Imports nothing into the engine. Without `retryFailed` (default
   * true) one that did not answer in time is not waited for again while nothing of it changed.
   */
  scan(options?: { readonly retryFailed?: boolean }): Promise<void>;
  list(): readonly NodesetSummary[];
  manifest(name: string): NodesetManifest | undefined;
  /** Ports of every known node type, built-ins included. */
  readonly manifests: ManifestSource;
  load(
    name: string,
    options?: { readonly signal?: AbortSignal; readonly onStage?: (stage: LoadStage) => void },
  ): Promise<NodesetSummary>;
  unload(name: string): Promise<void>;
  reload(name: string): Promise<NodesetSummary>;
  logTail(name: string): readonly string[];
  /** Modules a Python nodeset imports at its top level, as its syntax tree says. */
  importsOf(name: string): readonly string[];
  /** Builds what the nodeset asks for, then describes it anew. Joins a build that goes on; aborting ends it. */
  buildEnvironment(name: string, limits?: { readonly signal?: AbortSignal }): Promise<NodesetSummary>;
  cancelBuild(name: string): Promise<void>;
  /**
   * Whether these can run where they would, `forRun` before what they and Settings say. Those on this machine are left
   * out; nothing is started.
   */
  placeChecks(names: readonly string[], forRun?: SpawnPlace): Promise<readonly PlaceCheck[]>;
  /** Takes up what changed in the sources of these since they were described; sessions keep their versions. Never rejects for a nodeset. */
  lookAtChanges(names: readonly string[], limits?: { readonly signal?: AbortSignal }): Promise<void>;
  /** As `scan`, for servers at URLs alone: quick, and nothing that failed is tried again. */
  lookAtAttached(): Promise<void>;
  /** What a server at a URL calls itself. */
  nameOfServer(
    server: { readonly url: string; readonly tokenEnv: string },
    signal?: AbortSignal,
  ): Promise<string>;
  /** Throws `nodeset_failed` or `nodeset_unknown` after rolling back everything it started. */
  ensureNodesetsForGraph(nodesetNames: readonly string[], options: EnsureOptions): Promise<GraphSession>;
  onChange(listener: (summary: NodesetSummary) => void): Disposable;
}

export type { NodeHandler };
