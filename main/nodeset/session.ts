// One graph's nodesets for one run or Play: leases on the shared ones, replica sets of the replicated ones, all at
// the versions the session began with. Whatever fails while it opens takes everything back down.
import os from 'node:os';
import { StudioError, toStudioError } from '../base/errors.ts';
import { throwIfAborted } from '../base/abort.ts';
import type { SpawnPlace } from '../contract/spawners.ts';
import type { EvalMetadata, NodesetManifest } from '../contract/nodeset.ts';
import type { ManifestSource, NodeCatalog, NodeType } from '../graph/ports.ts';
import { haveCoresToThemselves, processCountOf } from './awake.ts';
import type { ReplicaNodeset } from './live-nodeset.ts';
import type {
  BatchBackend,
  BatchingPort,
  CallLimits,
  EngineNodes,
  EnsureReport,
  GraphSession,
  LoadStage,
  ReplicaSet,
} from './ports.ts';
import { PackedProcesses } from './packed-processes.ts';
import { createReplicaSet } from './replica-set.ts';
import type { SharedLease, SharedPool } from './shared-pool.ts';
import { startReplica, type NodesetRuntime, type ReplicaPacking } from './start-live.ts';
import { livesInEngine, runsPerWorker, type NodesetVersion } from './version.ts';

export interface SessionOptions {
  readonly runtime: NodesetRuntime;
  readonly pool: SharedPool;
  readonly builtins: EngineNodes;
  /** In the graph's order. */
  readonly versions: readonly NodesetVersion[];
  readonly batching?: BatchingPort | undefined;
  readonly onStage?: ((stage: LoadStage) => void) | undefined;
  readonly logFolder?: string | undefined;
  readonly place?: SpawnPlace | undefined;
  /** Default: 1, every worker has processes of its own. */
  readonly envsPerProcess?: number | undefined;
  /** Told of every process that starts and of its end. */
  readonly onReplicas: (replicas: readonly ReplicaNodeset[], change: 'started' | 'ended') => void;
}

export class NodesetSession implements GraphSession {
  readonly nodesets: readonly NodesetManifest[];
  readonly envNodesets: readonly string[];
  readonly manifests: ManifestSource;
  readonly #options: SessionOptions;
  readonly #builtins: NodeCatalog;
  readonly #stop = new AbortController();
  readonly #sets = new Set<ReplicaSet>();
  readonly #replicasOf = new Map<ReplicaSet, readonly ReplicaNodeset[]>();
  #packing: ReplicaPacking | undefined;
  #staysAwake = false;
  #leases: readonly SharedLease[] = [];
  #sharedTypes: readonly NodeType[] = [];
  #initial: readonly ReplicaSet[] = [];
  #alreadyLoaded: readonly string[] = [];
  readonly #closed = Promise.withResolvers<void>();
  #disposed: Promise<void> | undefined;

  private constructor(options: SessionOptions) {
    this.#options = options;
    this.#builtins = batchedCatalog(options.builtins, options.batching);
    this.nodesets = options.versions.map(({ manifest }) => manifest);
    this.envNodesets = this.nodesets
      .filter((manifest) => manifest.hasEnvPanel)
      .map((manifest) => manifest.name);
    const nodes = new Map(
      this.nodesets.flatMap((manifest) => manifest.nodes.map((node) => [node.nodeType, node] as const)),
    );
    this.manifests = {
      manifestOf: (nodeType) => nodes.get(nodeType) ?? options.builtins.manifestOf(nodeType),
    };
  }

  /** Everything in parallel; the first failure stops the rest, takes all down and is thrown. */
  static async open(
    options: SessionOptions,
    start: { readonly replicaCount: number; readonly signal?: AbortSignal | undefined },
  ): Promise<NodesetSession> {
    const session = new NodesetSession(options);
    try {
      await session.#open(start.replicaCount, start.signal);
      return session;
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Resolves when everything it started has ended. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get initial(): readonly ReplicaSet[] {
    return this.#initial;
  }

  get report(): EnsureReport {
    const loaded = this.nodesets
      .map((manifest) => manifest.name)
      .filter((name) => !this.#alreadyLoaded.includes(name));
    return { loaded, alreadyLoaded: this.#alreadyLoaded, failed: [], unknown: [] };
  }

  async evalMetadata(nodeset: string, limits: CallLimits = {}): Promise<EvalMetadata> {
    const metadata = await this.#running(nodeset).evalMetadata(limits);
    if (metadata) return metadata;
    throw new StudioError(
      'unsupported',
      `nodeset "${nodeset}" says nothing about evaluation; add evalMetadata() (Python: get_eval_metadata) to it`,
    );
  }

  async startReplicaSet(slot: number, limits: CallLimits = {}): Promise<ReplicaSet> {
    const { clock } = this.#options.runtime;
    const late = new AbortController();
    const { timeoutMs, signal } = limits;
    const timer =
      timeoutMs === undefined
        ? undefined
        : clock.after(timeoutMs, () => late.abort(tooLate(slot, timeoutMs)));
    try {
      return await this.#startSet(
        slot,
        AbortSignal.any([this.#stop.signal, late.signal, ...(signal ? [signal] : [])]),
      );
    } finally {
      timer?.[Symbol.dispose]();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#close();
    return this.#disposed;
  }

  async #open(replicaCount: number, signal: AbortSignal | undefined): Promise<void> {
    const { envsPerProcess = 1, runtime, versions } = this.#options;
    const processCount = processCountOf({
      workerCount: replicaCount,
      envsPerProcess,
      replicatedNodesets: versions.filter(runsPerWorker).length,
      servers: versions.filter((version) => !runsPerWorker(version) && !livesInEngine(version)).length,
    });
    this.#staysAwake = haveCoresToThemselves(processCount, runtime.coreCount ?? os.availableParallelism());
    if (envsPerProcess > 1) {
      const processes = new PackedProcesses(runtime.clock);
      this.#packing = { processes, workerCount: replicaCount, envsPerProcess };
    }
    const stopAll = AbortSignal.any([this.#stop.signal, ...(signal ? [signal] : [])]);
    const failed = Promise.withResolvers<never>();
    // The first failure stops the others at once; they are waited for before anything is taken down.
    const guarded = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        failed.reject(error);
        this.#stop.abort(new StudioError('aborted', 'another nodeset failed to start', { cause: error }));
        throw error;
      }
    };
    failed.promise.catch(() => undefined);
    const leasing = this.#openShared(stopAll, guarded);
    const starting = Array.from({ length: replicaCount }, (_, slot) =>
      guarded(this.#startReplicas(slot, stopAll)),
    );
    const [leases, ...sets] = await Promise.allSettled([leasing, ...starting]);
    const replicas = sets.flatMap((set) => (set.status === 'fulfilled' ? [set.value] : []));
    if (leases.status === 'rejected' || replicas.length < replicaCount) {
      await Promise.all(replicas.flat().map((replica) => this.#withdraw(replica)));
      await failed.promise;
    }
    this.#initial = replicas.map((started, slot) => this.#addSet(slot, started));
  }

  /** Leases are kept as they come, so that closing gives back those of a half-opened session. */
  async #openShared(signal: AbortSignal, guarded: <T>(work: Promise<T>) => Promise<T>): Promise<void> {
    const { pool, versions, onStage, logFolder, batching } = this.#options;
    const shared = versions.filter((version) => !runsPerWorker(version));
    const results = await Promise.allSettled(
      shared.map((version) => guarded(pool.acquire(version, { signal, onStage, logFolder }))),
    );
    this.#leases = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure) throw toStudioError(failure.reason);
    this.#alreadyLoaded = this.#leases
      .filter((lease) => !lease.startedNow)
      .map((lease) => lease.nodeset.manifest.name);
    this.#sharedTypes = this.#leases.flatMap((lease) =>
      lease.nodeset.nodeTypes.map((nodeType) => batchedType(nodeType, lease.nodeset, batching)),
    );
  }

  async #startSet(slot: number, signal: AbortSignal): Promise<ReplicaSet> {
    throwIfAborted(signal);
    const replicas = await this.#startReplicas(slot, signal);
    if (this.#stop.signal.aborted) await Promise.all(replicas.map((replica) => this.#withdraw(replica)));
    throwIfAborted(this.#stop.signal);
    return this.#addSet(slot, replicas);
  }

  /** All replicas of a slot, or none. */
  async #startReplicas(slot: number, signal: AbortSignal): Promise<readonly ReplicaNodeset[]> {
    const { runtime, versions, onStage, logFolder, place } = this.#options;
    const replicated = versions.filter(runsPerWorker);
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const results = await Promise.allSettled(
      replicated.map(async (version) => {
        try {
          const start = { slot, signal: either, onStage, logFolder, place };
          const how = { packing: this.#packing, staysAwake: this.#staysAwake };
          return await startReplica(runtime, version, { ...start, ...how });
        } catch (error) {
          if (!stop.signal.aborted) stop.abort(toStudioError(error));
          throw error;
        }
      }),
    );
    const started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    this.#options.onReplicas(started, 'started');
    if (started.length === replicated.length && !signal.aborted) return started;
    await Promise.all(started.map((replica) => this.#withdraw(replica)));
    throwIfAborted(stop.signal);
    throwIfAborted(signal);
    return started;
  }

  /** Nothing is wrong with it. */
  async #withdraw(replica: ReplicaNodeset): Promise<void> {
    await replica.withdraw();
    this.#options.onReplicas([replica], 'ended');
  }

  #addSet(slot: number, replicas: readonly ReplicaNodeset[]): ReplicaSet {
    const { onReplicas } = this.#options;
    const builtins = this.#builtins;
    const shared = this.#leases.map((lease) => lease.nodeset);
    const onEnd = (): void => {
      this.#sets.delete(set);
      this.#replicasOf.delete(set);
      onReplicas(replicas, 'ended');
    };
    const set = createReplicaSet({ slot, replicas, shared, sharedTypes: this.#sharedTypes, builtins, onEnd });
    this.#sets.add(set);
    this.#replicasOf.set(set, replicas);
    return set;
  }

  /** Of the lowest slot that runs. */
  #running(nodeset: string): Pick<ReplicaNodeset, 'evalMetadata'> {
    const sets = [...this.#sets].sort((a, b) => a.slot - b.slot);
    const replicas = sets.flatMap((set) => this.#replicasOf.get(set) ?? []);
    const all = [...replicas, ...this.#leases.map((lease) => lease.nodeset)];
    const found = all.find((candidate) => candidate.manifest.name === nodeset);
    if (found) return found;
    throw new StudioError(
      'nodeset_unknown',
      `no running nodeset is named "${nodeset}"; the graph uses ${this.nodesets.map(({ name }) => name).join(', ') || 'none'}`,
    );
  }

  async #close(): Promise<void> {
    this.#stop.abort(new StudioError('aborted', 'the session was closed'));
    await Promise.all([...this.#sets].map((set) => set[Symbol.asyncDispose]()));
    await Promise.all(this.#leases.map((lease) => lease[Symbol.asyncDispose]()));
    this.#closed.resolve();
  }
}

function tooLate(slot: number, timeoutMs: number): StudioError {
  return new StudioError(
    'timeout',
    `starting the processes of worker ${slot} took longer than ${timeoutMs / 1000} s`,
    { scope: { phase: 'start' } },
  );
}

interface BatchSource {
  batchBackend?(nodeType: string): BatchBackend | undefined;
}

function batchedType(nodeType: NodeType, source: BatchSource, batching: BatchingPort | undefined): NodeType {
  if (!nodeType.manifest.batched || !batching) return nodeType;
  const backend = source.batchBackend?.(nodeType.manifest.nodeType);
  return backend ? batching.wrap(nodeType, backend) : nodeType;
}

/** The engine's own nodes gather across workers as those of shared nodesets do. */
function batchedCatalog(nodes: EngineNodes, batching: BatchingPort | undefined): NodeCatalog {
  if (!batching) return nodes;
  const known = new Map<string, NodeType>();
  return {
    lookup(name) {
      const nodeType = known.get(name) ?? nodes.lookup(name);
      if (!nodeType || known.has(name)) return nodeType;
      const batched = batchedType(nodeType, nodes, batching);
      known.set(name, batched);
      return batched;
    },
  };
}
