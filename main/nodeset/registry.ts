// The nodesets a workspace knows: found, described, loaded, replaced by newer versions, and opened for graphs. The
// engine runs no code of a folder that is not trusted, and sessions keep the versions they started with.
import { createEmitter } from '../base/emitter.ts';
import { throwIfAborted } from '../base/abort.ts';
import { StudioError, messageOf, toStudioError } from '../base/errors.ts';
import type { NodesetManifest, NodesetSummary } from '../contract/nodeset.ts';
import type { ManifestSource } from '../graph/ports.ts';
import { describeAttached, nameOfServer, type AttachedServer } from './attached-nodeset.ts';
import { createNodesetCompiler } from './compile.ts';
import { createDescriber, type Describer } from './describe.ts';
import { EnvironmentBuilds } from './environments/environment-builds.ts';
import { mapLimited } from './map-limited.ts';
import { KnownNodeset } from './known-nodeset.ts';
import type { ReplicaNodeset } from './live-nodeset.ts';
import { createLogTails } from './log-tails.ts';
import { nodesetOf } from './manifest.ts';
import { pruneNodesetCache } from './prune-cache.ts';
import type { EnsureOptions, GraphSession, LoadStage, NodesetRegistry } from './ports.ts';
import { findNodesets, tolerating, withAttached } from './scan.ts';
import { NodesetSession } from './session.ts';
import { SharedPool } from './shared-pool.ts';
import { serverPorts, startShared, type NodesetRuntime } from './start-live.ts';
import type { SpawnPlace } from '../contract/spawners.ts';
import { placeCheckOf } from './place-check.ts';
import type { PlaceCheck } from './spawners/check-place.ts';
import { refuseSharedEnvironment, startRefused, unknownNodesets } from './refusals.ts';
import type { NodesetRegistryOptions } from './registry-options.ts';
import { assertTrusted } from './trust.ts';
import { runsPerWorker, type NodesetVersion } from './version.ts';

export type { NodesetRegistryOptions };

/** Manifests are read in processes; more at once than cores only makes each slower. */
const describedAtOnce = 2;

interface LoadLimits {
  readonly signal?: AbortSignal;
  readonly onStage?: (stage: LoadStage) => void;
}

class WorkspaceRegistry implements NodesetRegistry {
  readonly manifests: ManifestSource;
  readonly #options: NodesetRegistryOptions;
  readonly #runtime: NodesetRuntime;
  readonly #describer: Describer;
  readonly #builds: EnvironmentBuilds;
  readonly #pool: SharedPool;
  readonly #logs = createLogTails();
  readonly #known = new Map<string, KnownNodeset>();
  readonly #sessions = new Set<NodesetSession>();
  readonly #changes = createEmitter<{ change: NodesetSummary }>();
  readonly #stop = new AbortController();

  constructor(options: NodesetRegistryOptions) {
    this.#options = options;
    const { cacheFolder, authorModule, describeMs, logger } = options;
    this.#runtime = {
      ...options.runtime,
      logSinkFor: (nodeset, instance) => this.#logs.sinkFor(nodeset, instance),
    };
    const compiler = createNodesetCompiler({
      cacheFolder,
      ...(authorModule !== undefined && { authorModule }),
    });
    this.#describer = createDescriber({
      cacheFolder,
      compiler,
      describeMs,
      runtime: this.#runtime,
      interpreters: options.interpreters,
      describeAttached: (source, signal) => describeAttached(source, serverPorts(this.#runtime), signal),
      assertTrusted: (source) => this.#assertTrusted({ source }),
    });
    this.#builds = new EnvironmentBuilds({
      interpreters: options.interpreters,
      environments: options.environments,
      logLineFor: (name) => this.#runtime.logSinkFor(name, 'environment'),
    });
    this.#pool = new SharedPool({
      clock: this.#runtime.clock,
      logger,
      start: (version, start) => startShared(this.#runtime, version, start),
      onChange: (name) => this.#known.get(name)?.touch(),
    });
    this.manifests = {
      manifestOf: (nodeType) => options.builtins.manifestOf(nodeType) ?? this.#manifestOf(nodeType),
    };
  }

  async scan({ retryFailed = true }: { readonly retryFailed?: boolean } = {}): Promise<void> {
    const { folders, findPython, cacheFolder, attachments, logger } = this.#options;
    await pruneNodesetCache(cacheFolder, this.#runtime.clock.now());
    const onDisk = await findNodesets(folders, findPython && tolerating(findPython, logger));
    const { sources, bad } = withAttached(onDisk, attachments?.() ?? []);
    const found = new Set([...sources, ...bad.map(({ source }) => source)].map(({ name }) => name));
    for (const [name, known] of this.#known) if (!found.has(name) && !known.isInUse) this.#known.delete(name);
    for (const { source, error } of bad)
      [this.#knownFor(source)].filter(isIdle).forEach((known) => known.fail(error));
    const scanned = sources.map((source) => this.#knownFor(source)).filter(isIdle);
    await mapLimited(scanned, describedAtOnce, (known) => this.#refresh(known, retryFailed));
  }

  list(): readonly NodesetSummary[] {
    return [...this.#known.values()]
      .map((known) => this.#summaryOf(known))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async lookAtAttached(): Promise<void> {
    const others = [...this.#known.values()]
      .map(({ source }) => source)
      .filter((source) => source.origin !== 'attached');
    const { sources } = withAttached({ sources: others, bad: [] }, this.#options.attachments?.() ?? []);
    const attached = sources.filter((source) => source.origin === 'attached');
    for (const [name, { source, isInUse }] of this.#known)
      if (source.origin === 'attached' && !isInUse && !attached.some((each) => each.name === name))
        this.#known.delete(name);
    await Promise.all(
      attached
        .map((source) => this.#knownFor(source))
        .filter(isIdle)
        .map((known) => this.#refresh(known)),
    );
  }

  async lookAtChanges(
    names: readonly string[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    const known = names.flatMap((name) => this.#known.get(name) ?? []);
    await mapLimited(known, describedAtOnce, (each) =>
      this.#forgiven(each, () => this.#lookAtChange(each, signal)),
    );
  }

  importsOf(name: string): readonly string[] {
    return this.#known.get(name)?.source.imports ?? [];
  }

  async placeChecks(names: readonly string[], forRun?: SpawnPlace): Promise<readonly PlaceCheck[]> {
    const { checkPlace } = this.#options;
    const known = names.flatMap((name) => this.#known.get(name) ?? []);
    const checks = await Promise.all(
      known.map((each) => placeCheckOf(each, { placeOf: this.#runtime.placeOf, checkPlace, forRun })),
    );
    return checks.filter((check) => check !== undefined);
  }

  async nameOfServer(server: AttachedServer, signal?: AbortSignal): Promise<string> {
    return await nameOfServer(server, serverPorts(this.#runtime), signal);
  }

  async buildEnvironment(
    name: string,
    limits: { readonly signal?: AbortSignal } = {},
  ): Promise<NodesetSummary> {
    const known = this.#named(name);
    // Its requirements may come from code, and what is installed runs code.
    await this.#assertTrusted(known);
    await this.#builds.build(known, limits.signal);
    await this.#refresh(known);
    return this.#summaryOf(known);
  }

  async cancelBuild(name: string): Promise<void> {
    await this.#builds.cancel(this.#named(name));
  }

  manifest(name: string): NodesetManifest | undefined {
    return this.#known.get(name)?.version?.manifest;
  }

  logTail(name: string): readonly string[] {
    return this.#logs.tail(name);
  }

  async load(name: string, limits: LoadLimits = {}): Promise<NodesetSummary> {
    const known = this.#named(name);
    await known.exclusively(async () => {
      if (known.isLoaded) return;
      await this.#load(known, limits);
    });
    return this.#summaryOf(known);
  }

  async unload(name: string): Promise<void> {
    const known = this.#named(name);
    await known.exclusively(async () => {
      known.enter('unloading');
      await known.giveBack();
      known.enter(undefined);
    });
  }

  async reload(name: string): Promise<NodesetSummary> {
    const known = this.#named(name);
    await known.exclusively(async () => {
      const wasLoaded = known.isLoaded;
      const former = known.takeLease();
      try {
        known.forgetVersion();
        if (wasLoaded) await this.#load(known, {});
        else await this.#describe(known);
      } finally {
        // Only now: an unchanged version is not stopped and started again.
        await former?.[Symbol.asyncDispose]();
      }
    });
    return this.#summaryOf(known);
  }

  async ensureNodesetsForGraph(
    nodesetNames: readonly string[],
    options: EnsureOptions,
  ): Promise<GraphSession> {
    const names = [...new Set(nodesetNames)];
    const unknown = names.filter((name) => !this.#known.has(name));
    if (unknown.length > 0) throw unknownNodesets(unknown, [...this.#known.keys()]);
    const known = names.map((name) => this.#named(name));
    for (const each of known) await this.#assertTrusted(each);
    const versions = await Promise.all(known.map((each) => this.#versionFor(each, options)));
    throwIfAborted(this.#stop.signal);
    refuseSharedEnvironment(versions, options.replicaCount);
    return await this.#open(versions, options);
  }

  onChange(listener: (summary: NodesetSummary) => void): Disposable {
    return this.#changes.on('change', listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new StudioError('aborted', 'the nodeset registry was closed'));
    await Promise.all([...this.#sessions].map((session) => session[Symbol.asyncDispose]()));
    await Promise.all([...this.#known.values()].map((known) => known.giveBack()));
  }

  async #open(versions: readonly NodesetVersion[], options: EnsureOptions): Promise<GraphSession> {
    const { replicaCount, signal, batching, onStage, logFolder, place, envsPerProcess } = options;
    const { builtins } = this.#options;
    const onReplicas = (replicas: readonly ReplicaNodeset[], change: 'started' | 'ended'): void => {
      for (const replica of replicas) this.#known.get(replica.manifest.name)?.trackReplica(replica, change);
    };
    const stop = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
    try {
      const opening = {
        runtime: this.#runtime,
        pool: this.#pool,
        builtins,
        versions,
        batching,
        onStage,
        logFolder,
        place,
        envsPerProcess,
        onReplicas,
      };
      const session = await NodesetSession.open(opening, { replicaCount, signal: stop });
      this.#sessions.add(session);
      void session.closed.then(() => this.#sessions.delete(session));
      return session;
    } catch (error) {
      throw startRefused(versions, error);
    }
  }

  /** The version new sessions start with; one that failed is tried again. */
  async #versionFor(known: KnownNodeset, { signal }: EnsureOptions): Promise<NodesetVersion> {
    try {
      return (
        known.version ??
        (await known.exclusively(async () => known.version ?? (await this.#describe(known, signal))))
      );
    } catch (error) {
      throw startRefused([known], error);
    }
  }

  async #load(known: KnownNodeset, { signal, onStage }: LoadLimits): Promise<void> {
    const relay = (stage: LoadStage): void => {
      known.enter('loading', stage.stage);
      onStage?.(stage);
    };
    known.enter('loading');
    try {
      await this.#assertTrusted(known);
      const version = known.version ?? (await this.#describe(known, signal));
      const lease = runsPerWorker(version)
        ? undefined
        : await this.#pool.acquire(version, { signal, onStage: relay });
      known.load(lease);
    } catch (thrown) {
      const error = toStudioError(thrown, 'nodeset_failed');
      if (error.code === 'aborted') known.enter(undefined);
      else known.fail(error);
      throw error;
    }
  }

  async #describe(known: KnownNodeset, signal?: AbortSignal, retryFailed = true): Promise<NodesetVersion> {
    try {
      await this.#assertTrusted(known);
      if (retryFailed) await this.#describer.forgetFailure(known.source);
      const stop = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
      if (this.#runtime.placeOf?.(known.source) !== 'docker') await this.#builds.look(known);
      known.chooseInterpreter(undefined);
      const version = await this.#describer.describe(known.source, stop, (chosen) =>
        known.chooseInterpreter(chosen),
      );
      known.describe(version);
      return version;
    } catch (error) {
      const failure = toStudioError(error, 'nodeset_failed');
      if (failure.code !== 'aborted') known.fail(failure);
      throw failure;
    }
  }

  /** What is unchanged is not described anew, so nobody is told of it. Attached servers are asked when they are used. */
  async #lookAtChange(known: KnownNodeset, signal: AbortSignal | undefined): Promise<void> {
    const { version, source } = known;
    if (version === undefined || source.origin === 'attached') return;
    await this.#assertTrusted(known).catch((error: unknown) => {
      // Edited since its content was trusted: what was known of it no longer holds. What runs keeps what it started with.
      if (!known.isInUse) known.fail(toStudioError(error));
      throw error;
    });
    if (await this.#describer.isCurrent(version)) return;
    const { isLoaded } = known;
    const former = known.takeLease();
    try {
      await this.#describe(known, signal);
      if (isLoaded) await this.#load(known, signal ? { signal } : {});
    } finally {
      await former?.[Symbol.asyncDispose]();
    }
  }

  async #refresh(known: KnownNodeset, retryFailed = true): Promise<void> {
    await this.#forgiven(known, () => this.#describe(known, undefined, retryFailed));
  }

  /** One nodeset of several: its failure is its own, and stands in its summary. */
  async #forgiven(known: KnownNodeset, work: () => Promise<unknown>): Promise<void> {
    try {
      await known.exclusively(work);
    } catch (error) {
      this.#options.logger.warn('a nodeset could not be described', {
        nodeset: known.source.name,
        error: messageOf(error),
      });
    }
  }

  async #assertTrusted({ source }: Pick<KnownNodeset, 'source'>): Promise<void> {
    // Nothing of an attached server runs here.
    if (source.origin === 'attached') return;
    await assertTrusted(source, {
      isTrusted: this.#options.isTrusted,
      launcher: this.#runtime.launchers[source.language],
    });
  }

  #knownFor(source: KnownNodeset['source']): KnownNodeset {
    const known = this.#known.get(source.name);
    if (known && (known.isInUse || known.isFor(source))) return known;
    const created = new KnownNodeset(source, (changed) =>
      this.#changes.emit('change', this.#summaryOf(changed)),
    );
    this.#known.set(source.name, created);
    return created;
  }

  #named(name: string): KnownNodeset {
    const known = this.#known.get(name);
    if (!known) throw unknownNodesets([name], [...this.#known.keys()]);
    return known;
  }

  #manifestOf(nodeType: string): ReturnType<ManifestSource['manifestOf']> {
    const name = nodesetOf(nodeType);
    const manifest = name === undefined ? undefined : this.manifest(name);
    return manifest?.nodes.find((node) => node.nodeType === nodeType);
  }

  #summaryOf(known: KnownNodeset): NodesetSummary {
    return known.summary(this.#pool.running(known.source.name));
  }
}

/** A scan leaves what is loaded or changing alone. */
function isIdle(known: KnownNodeset): boolean {
  return !known.isInUse;
}

export function createNodesetRegistry(options: NodesetRegistryOptions): NodesetRegistry {
  return new WorkspaceRegistry(options);
}
