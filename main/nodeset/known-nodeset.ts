// One nodeset as the registry knows it: its source, current version, whether it is loaded, and what runs of it.
import type { StudioError } from '../base/errors.ts';
import type { NodesetEnvironment, NodesetManifest, NodesetSummary } from '../contract/nodeset.ts';
import type { HostProcess } from '../process/ports.ts';
import type { ChosenInterpreter } from './interpreter-choice.ts';
import type { LiveNodeset, ReplicaNodeset } from './live-nodeset.ts';
import type { SharedLease } from './shared-pool.ts';
import { offeredBy } from './trust.ts';
import { stableHash } from '../base/stable-hash.ts';
import type { NodesetSource, NodesetVersion } from './version.ts';

type Situation =
  | { readonly kind: 'found' }
  | { readonly kind: 'loading' | 'unloading'; readonly stage: string | undefined }
  | { readonly kind: 'loaded' }
  | { readonly kind: 'failed'; readonly error: StudioError };

export class KnownNodeset {
  readonly source: NodesetSource;
  readonly #onChange: (changed: KnownNodeset) => void;
  readonly #replicas = new Set<ReplicaNodeset>();
  #version: NodesetVersion | undefined;
  #environment: NodesetEnvironment | undefined;
  #interpreter: ChosenInterpreter | undefined;
  #situation: Situation = { kind: 'found' };
  /** A replicated nodeset is loaded without one: its processes belong to sessions. */
  #lease: SharedLease | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(source: NodesetSource, onChange: (changed: KnownNodeset) => void) {
    this.source = source;
    this.#onChange = onChange;
  }

  /** What new sessions start with. */
  get version(): NodesetVersion | undefined {
    return this.#version;
  }

  get isLoaded(): boolean {
    return this.#situation.kind === 'loaded';
  }

  /** Loaded or changing: a scan leaves it alone. */
  get isInUse(): boolean {
    return this.#situation.kind !== 'found' && this.#situation.kind !== 'failed';
  }

  isFor(source: NodesetSource): boolean {
    const { entry, className, interpreter, interpreterIsCode, script, tokenEnv, needs } = this.source;
    return (
      entry === source.entry &&
      className === source.className &&
      interpreter === source.interpreter &&
      interpreterIsCode === source.interpreterIsCode &&
      script === source.script &&
      tokenEnv === source.tokenEnv &&
      stableHash(needs ?? null) === stableHash(source.needs ?? null)
    );
  }

  /** Loads, unloads and reloads of one nodeset happen one after the other. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work, work);
    this.#queue = turn.catch(() => undefined);
    return await turn;
  }

  describe(version: NodesetVersion): void {
    this.#version = version;
    if (this.#situation.kind === 'failed') this.#change({ kind: 'found' });
    else this.#onChange(this);
  }

  get environment(): NodesetEnvironment | undefined {
    return this.#environment;
  }

  /** What it needs to have built changed, or how far that is. */
  showEnvironment(environment: NodesetEnvironment | undefined): void {
    if (this.#environment === undefined && environment === undefined) return;
    this.#environment = environment;
    this.#onChange(this);
  }

  /** Also of a version that then fails: it says with what. */
  chooseInterpreter(chosen: ChosenInterpreter | undefined): void {
    this.#interpreter = chosen;
  }

  /** The next one to need it reads the sources again. */
  forgetVersion(): void {
    this.#version = undefined;
  }

  enter(kind: 'loading' | 'unloading' | undefined, stage?: string): void {
    this.#change(kind === undefined ? { kind: 'found' } : { kind, stage });
  }

  load(lease: SharedLease | undefined): void {
    this.#lease = lease;
    this.#change({ kind: 'loaded' });
  }

  fail(error: StudioError): void {
    this.#version = undefined;
    this.#change({ kind: 'failed', error });
  }

  /** The lease is the caller's to give back from now on. */
  takeLease(): SharedLease | undefined {
    const lease = this.#lease;
    this.#lease = undefined;
    return lease;
  }

  async giveBack(): Promise<void> {
    await this.takeLease()?.[Symbol.asyncDispose]();
  }

  /** What runs of it changed elsewhere. */
  touch(): void {
    this.#onChange(this);
  }

  trackReplica(replica: ReplicaNodeset, change: 'started' | 'ended'): void {
    if (change === 'started') this.#replicas.add(replica);
    else this.#replicas.delete(replica);
    this.#onChange(this);
  }

  summary(sharedRunning: readonly LiveNodeset[]): NodesetSummary {
    const { name, language, origin, path } = this.source;
    const manifest = this.#version?.manifest;
    const replicas = [...this.#replicas].map(({ instance, host }) => processOf(instance, host));
    const servers = sharedRunning.map(({ host }) => (host ? processOf(name, host) : undefined));
    const situation = this.#situation;
    const isRunning = this.#replicas.size > 0 || sharedRunning.length > 0;
    return {
      name,
      language,
      origin,
      source: path,
      description: manifest?.description ?? '',
      ...(manifest && { parallelism: manifest.parallelism }),
      state: situation.kind === 'found' && isRunning ? 'loaded' : situation.kind,
      nodeTypes: manifest?.nodes.map((node) => node.nodeType) ?? [],
      sourceHash: this.#version?.hash ?? '',
      processes: [...replicas, ...servers].filter((each) => each !== undefined),
      ...('stage' in situation && situation.stage !== undefined && { stage: situation.stage }),
      ...(situation.kind === 'failed' && failureOf(situation.error)),
      ...this.#interpreterFacts(),
      mode: modeOf(this.source, manifest),
    };
  }

  #interpreterFacts(): Partial<NodesetSummary> {
    const { interpreter, interpreterIsCode } = this.source;
    const chosen = this.#version?.interpreter ?? this.#interpreter;
    const stated = interpreter ?? (interpreterIsCode ? 'code in server_python' : undefined);
    return {
      ...(stated !== undefined && { interpreter: stated }),
      ...(chosen && { interpreterPath: chosen.path, interpreterFrom: chosen.from }),
      ...(this.#environment && { environment: this.#environment }),
    };
  }

  #change(situation: Situation): void {
    this.#situation = situation;
    this.#onChange(this);
  }
}

function failureOf(error: StudioError): Pick<NodesetSummary, 'error' | 'errorCode' | 'offered'> {
  const offered = offeredBy(error);
  return { error: error.message, errorCode: error.code, ...(offered && { offered }) };
}

function modeOf(source: NodesetSource, manifest: NodesetManifest | undefined): NodesetSummary['mode'] {
  if (source.origin === 'attached') return 'attached';
  return source.language === 'typescript' && (manifest?.parallelism ?? 'shared') === 'shared'
    ? 'local'
    : 'server';
}

function processOf(
  name: string,
  { process, connection, heartbeatRssBytes }: HostProcess,
): NodesetSummary['processes'][number] | undefined {
  if (process.exitInfo) return undefined;
  return { name, pid: process.pid, rssBytes: heartbeatRssBytes, silentSinceMs: connection.silentSinceMs() };
}
