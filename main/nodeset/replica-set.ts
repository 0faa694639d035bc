// One worker's processes and the catalog that routes into them. Disposed or killed, it is never used again.
import { isPacked } from '../process/packed-host.ts';
import type { ExitInfo } from '../process/ports.ts';
import { StudioError } from '../base/errors.ts';
import type { NodeCatalog, NodeType } from '../graph/ports.ts';
import type { LiveNodeset, ReplicaNodeset } from './live-nodeset.ts';
import type { EnvPanelClient, ReplicaDeath, ReplicaSet } from './ports.ts';

export interface ReplicaSetOptions {
  readonly slot: number;
  readonly replicas: readonly ReplicaNodeset[];
  readonly shared: readonly LiveNodeset[];
  /** Shared node types, wrapped where they batch. */
  readonly sharedTypes: readonly NodeType[];
  readonly builtins: NodeCatalog;
  readonly onEnd: () => void;
}

type Ending = 'none' | 'stopping' | 'killing';

class ProcessReplicaSet implements ReplicaSet {
  readonly slot: number;
  readonly instances: readonly string[];
  readonly catalog: NodeCatalog;
  readonly death: Promise<ReplicaDeath>;
  readonly #options: ReplicaSetOptions;
  #ending: Ending = 'none';
  #ended: Promise<void> | undefined;

  constructor(options: ReplicaSetOptions) {
    const { replicas, sharedTypes, builtins } = options;
    this.#options = options;
    this.slot = options.slot;
    this.instances = replicas.map((replica) => replica.instance);
    const types = [...sharedTypes, ...replicas.flatMap((replica) => replica.nodeTypes)];
    const byName = new Map(types.map((nodeType) => [nodeType.manifest.nodeType, nodeType]));
    this.catalog = { lookup: (nodeType) => byName.get(nodeType) ?? builtins.lookup(nodeType) };
    this.death = firstDeath(replicas, () => this.#ending !== 'none');
    const parts = replicas.flatMap(({ host }) => (isPacked(host) ? [host] : []));
    if (parts.length > 0) this.waitedForMatesMs = () => parts.reduce((sum, part) => sum + part.waitedMs(), 0);
  }

  /** Absent where no process is shared. */
  readonly waitedForMatesMs: (() => number) | undefined;

  get pids(): readonly number[] {
    return this.#options.replicas.map((replica) => replica.host.process.pid);
  }

  panel(nodeset: string): EnvPanelClient {
    const all = [...this.#options.replicas, ...this.#options.shared];
    const found = all.find((candidate) => candidate.manifest.name === nodeset);
    if (!found)
      throw new StudioError(
        'nodeset_unknown',
        `the graph uses no nodeset "${nodeset}"; it uses ${all.map((each) => each.manifest.name).join(', ')}`,
      );
    if (!found.panel)
      throw new StudioError(
        'unsupported',
        `nodeset "${nodeset}" has no env panel; name the nodeset of the environment`,
      );
    return found.panel;
  }

  broken(): StudioError | undefined {
    for (const replica of this.#options.replicas) {
      const reason = replica.broken();
      if (reason) return reason;
    }
    return undefined;
  }

  endExecution(executionId: string): void {
    for (const nodeset of this.#options.replicas) nodeset.endExecution(executionId);
    for (const nodeset of this.#options.shared) nodeset.endExecution(executionId);
  }

  async kill(): Promise<void> {
    // A stop that hangs is overtaken by a kill.
    this.#ending = 'killing';
    await Promise.all(this.#options.replicas.map((replica) => replica.kill()));
    this.#options.onEnd();
  }

  rssBytes(): number | null {
    const known = this.#options.replicas.flatMap(({ host }) => host.heartbeatRssBytes ?? []);
    return known.length === 0 ? null : known.reduce((sum, bytes) => sum + bytes, 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#ended ??= this.#stop();
    return this.#ended;
  }

  async #stop(): Promise<void> {
    if (this.#ending === 'none') this.#ending = 'stopping';
    await Promise.all(
      this.#options.replicas.map((replica) => (this.#ending === 'killing' ? replica.kill() : replica.stop())),
    );
    this.#options.onEnd();
  }
}

export function createReplicaSet(options: ReplicaSetOptions): ReplicaSet {
  return new ProcessReplicaSet(options);
}

function firstDeath(replicas: readonly ReplicaNodeset[], isExpected: () => boolean): Promise<ReplicaDeath> {
  return new Promise((resolve) => {
    for (const replica of replicas)
      void replica.host.process.exited.then((exit) => resolve(deathOf(replica, exit, isExpected())));
  });
}

function deathOf(
  { instance, host }: ReplicaNodeset,
  { exitCode, signal }: ExitInfo,
  expected: boolean,
): ReplicaDeath {
  const death = { instance, exitCode, signal, stderrTail: host.process.stderrTail(20), expected };
  return isPacked(host) && host.endedByMate() ? { ...death, byMate: true } : death;
}
