// Named points along an episode's life at which a test may kill the engine, throw or hang. They sit in decorators around
// ports: nothing of the product knows them, and without an armed point they only count.
import { join } from 'node:path';
import { abortedError } from '../../base/abort.ts';
import { StudioError } from '../../base/errors.ts';
import type { NodeCatalog, NodeType } from '../../graph/ports.ts';
import type {
  BatchingPort,
  CallLimits,
  EnvPanelClient,
  GraphSession,
  NodesetRegistry,
  ReplicaSet,
} from '../../nodeset/ports.ts';
import type { FileHandlePort, FileSystemPort } from '../../store/ports.ts';

export const failpointNames = [
  'run.folder',
  'run.graph',
  'run.record',
  'run.journal',
  'run.rename',
  'run.sync',
  'disk.free',
  'journal.open',
  'plan.write',
  'record.write',
  'record.written',
  'journal.append',
  'journal.appended',
  'journal.sync',
  'journal.synced',
  'journal.cut',
  'summary.write',
  'summary.written',
  'done.write',
  'done.written',
  'queue.write',
  'queue.written',
  'session.open',
  'replica.spawn',
  'replica.ready',
  'replica.replace',
  'panel.info',
  'panel.set',
  'panel.reset',
  'panel.reset.reply',
  'panel.load',
  'step.call',
  'step.reply',
  'verdict.call',
  'verdict.reply',
  'batch.submit',
  'batch.flush',
  'batch.reply',
  'batch.reset',
  'replica.kill',
  'replica.killed',
  'replica.close',
  'replica.closed',
  'session.close',
] as const;
export type FailpointName = (typeof failpointNames)[number];

export const failpointActions = ['kill', 'throw', 'hang'] as const;
export type FailpointAction = (typeof failpointActions)[number];

export interface Armed {
  readonly name: FailpointName;
  readonly action: FailpointAction;
  /** 1 = the first time it is passed. */
  readonly nth: number;
}

export class Failpoints {
  readonly #hits = new Map<FailpointName, number>();
  readonly #armed: Armed | null;
  readonly #kill: () => void;
  /** The armed point has done what it was armed for. */
  hasStruck = false;

  constructor(armed: Armed | null, kill: () => void) {
    this.#armed = armed;
    this.#kill = kill;
  }

  get hits(): ReadonlyMap<FailpointName, number> {
    return this.#hits;
  }

  /** Rejects, never settles, or ends everything when the point is armed and due. */
  async pass(name: FailpointName | null, thrown: () => Error, signal?: AbortSignal): Promise<void> {
    if (name === null) return;
    const hits = (this.#hits.get(name) ?? 0) + 1;
    this.#hits.set(name, hits);
    if (this.#armed?.name !== name || this.#armed.nth !== hits) return;
    this.hasStruck = true;
    switch (this.#armed.action) {
      case 'throw':
        throw thrown();
      case 'kill':
        this.#kill();
        break;
      case 'hang':
        break;
    }
    await never(signal);
  }
}

function never(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) =>
    signal?.addEventListener('abort', () => reject(abortedError(signal)), { once: true }),
  );
}

const diskError = (): Error => Object.assign(new Error('EIO: failpoint'), { code: 'EIO' });
const remoteError = (): Error => new StudioError('remote_error', 'failpoint');

/** Around the disk: runs' folders, records, journal, summary, queue. */
export function failpointFileSystem(inner: FileSystemPort, points: Failpoints): FileSystemPort {
  const around = async <T>(
    before: FailpointName | null,
    after: FailpointName | null,
    act: () => Promise<T>,
  ): Promise<T> => {
    await points.pass(before, diskError);
    const value = await act();
    await points.pass(after, diskError);
    return value;
  };
  const isNew = (path: string): boolean => path.includes('/.new-');
  const ends = (path: string, name: string): boolean => path.endsWith(name);
  const handleOf = (handle: FileHandlePort, path: string): FileHandlePort => {
    if (isNew(path)) {
      const name = ends(path, 'graph.json')
        ? 'run.graph'
        : ends(path, 'episodes.jsonl')
          ? 'run.journal'
          : 'run.record';
      return { ...handle, write: (bytes) => around(name, null, () => handle.write(bytes)) };
    }
    if (!ends(path, 'episodes.jsonl')) return handle;
    return {
      ...handle,
      write: (bytes) => around('journal.append', 'journal.appended', () => handle.write(bytes)),
      sync: () => around('journal.sync', 'journal.synced', () => handle.sync()),
      truncate: (bytes) => around('journal.cut', null, () => handle.truncate(bytes)),
    };
  };
  const renamed = (to: string): readonly [FailpointName | null, FailpointName | null] => {
    if (ends(to, 'run.created.json')) return ['plan.write', null];
    if (ends(to, 'run.json')) return ['record.write', 'record.written'];
    if (ends(to, 'summary.json')) return ['summary.write', 'summary.written'];
    if (ends(to, '_DONE')) return ['done.write', 'done.written'];
    if (ends(to, 'queue.json')) return ['queue.write', 'queue.written'];
    return [null, null];
  };
  return {
    ...inner,
    async open(path, mode) {
      const name = mode === 'append' && ends(path, 'episodes.jsonl') ? 'journal.open' : null;
      return handleOf(await around(name, null, () => inner.open(path, mode)), path);
    },
    makeFolder: (path) => around(isNew(path) ? 'run.folder' : null, null, () => inner.makeFolder(path)),
    rename: (from, to) => {
      const [before, after] = isNew(from) ? (['run.rename', null] as const) : renamed(to);
      return around(before, after, () => inner.rename(from, to));
    },
    syncFolder: (path) =>
      around(ends(path, join('outputs', 'eval_runs')) || ends(path, '/runs') ? 'run.sync' : null, null, () =>
        inner.syncFolder(path),
      ),
    freeBytes: (path) => around('disk.free', null, () => inner.freeBytes(path)),
  };
}

/** Around nodesets: sessions, replicas, their panels and their node types, named by what follows the last `__`. */
export function failpointRegistry(inner: NodesetRegistry, points: Failpoints): NodesetRegistry {
  return new Proxy(inner, {
    get(target, key) {
      if (key === 'ensureNodesetsForGraph') {
        const ensure: NodesetRegistry['ensureNodesetsForGraph'] = async (names, options) => {
          await points.pass('replica.spawn', remoteError, options.signal);
          const session = await target.ensureNodesetsForGraph(names, {
            ...options,
            ...(options.batching ? { batching: failpointBatching(options.batching, points) } : {}),
          });
          try {
            await points.pass('replica.ready', remoteError, options.signal);
            await points.pass('session.open', remoteError, options.signal);
          } catch (error) {
            await session[Symbol.asyncDispose]();
            throw error;
          }
          return failpointSession(session, points);
        };
        return ensure;
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function failpointSession(inner: GraphSession, points: Failpoints): GraphSession {
  const initial = inner.initial.map((replica) => failpointReplica(replica, points));
  return {
    report: inner.report,
    manifests: inner.manifests,
    nodesets: inner.nodesets,
    envNodesets: inner.envNodesets,
    initial,
    evalMetadata: (nodeset, limits) => inner.evalMetadata(nodeset, limits),
    async startReplicaSet(slot, limits) {
      await points.pass('replica.replace', remoteError, limits?.signal);
      return failpointReplica(await inner.startReplicaSet(slot, limits), points);
    },
    async [Symbol.asyncDispose]() {
      await points.pass('session.close', remoteError);
      await inner[Symbol.asyncDispose]();
    },
  };
}

function failpointReplica(inner: ReplicaSet, points: Failpoints): ReplicaSet {
  return {
    slot: inner.slot,
    instances: inner.instances,
    pids: inner.pids,
    death: inner.death,
    catalog: failpointCatalog(inner.catalog, points),
    panel: (nodeset) => failpointPanel(inner.panel(nodeset), points),
    endExecution: (executionId) => inner.endExecution(executionId),
    rssBytes: () => inner.rssBytes(),
    async kill() {
      // The process ends all the same; it is our wait for it that fails.
      const isGone = inner.kill();
      await points.pass('replica.kill', remoteError);
      await isGone;
      await points.pass('replica.killed', remoteError);
    },
    async [Symbol.asyncDispose]() {
      await points.pass('replica.close', remoteError);
      await inner[Symbol.asyncDispose]();
      await points.pass('replica.closed', remoteError);
    },
  };
}

function failpointPanel(inner: EnvPanelClient, points: Failpoints): EnvPanelClient {
  const before = async <T>(
    name: FailpointName,
    limits: CallLimits | undefined,
    act: () => Promise<T>,
  ): Promise<T> => {
    await points.pass(name, remoteError, limits?.signal);
    return await act();
  };
  return {
    info: (limits) => before('panel.info', limits, () => inner.info(limits)),
    load: (limits) => before('panel.load', limits, () => inner.load(limits)),
    changeField: (field, value, limits) =>
      before('panel.set', limits, () => inner.changeField(field, value, limits)),
    async act(action, values, limits) {
      const state = await before('panel.reset', limits, () => inner.act(action, values, limits));
      await points.pass('panel.reset.reply', remoteError, limits?.signal);
      return state;
    },
    options: (field, limits) => inner.options(field, limits),
  };
}

function failpointCatalog(inner: NodeCatalog, points: Failpoints): NodeCatalog {
  return {
    lookup(nodeType) {
      const found = inner.lookup(nodeType);
      if (!found || nodeType.endsWith('__observe')) return found;
      if (nodeType.endsWith('__step')) return failpointNode(found, points, 'step.call', 'step.reply');
      if (nodeType.endsWith('__evaluate'))
        return failpointNode(found, points, 'verdict.call', 'verdict.reply');
      return found;
    },
  };
}

function failpointNode(
  inner: NodeType,
  points: Failpoints,
  before: FailpointName,
  after: FailpointName | null,
): NodeType {
  return {
    manifest: inner.manifest,
    bind(nodeId, config) {
      const handler = inner.bind(nodeId, config);
      return {
        async forward(inputs, context) {
          await points.pass(before, remoteError, context.signal);
          const result = await handler.forward(inputs, context);
          await points.pass(after, remoteError, context.signal);
          return result;
        },
        ...(handler.end ? { end: (executionId: string) => handler.end?.(executionId) } : {}),
      };
    },
  };
}

function failpointBatching(inner: BatchingPort, points: Failpoints): BatchingPort {
  return {
    ready: async (signal) => await inner.ready?.(signal),
    wrap: (nodeType, backend) =>
      failpointNode(
        inner.wrap(nodeType, {
          ...backend,
          async call(samples, config, signal) {
            await points.pass('batch.flush', remoteError, signal);
            const answers = await backend.call(samples, config, signal);
            await points.pass('batch.reply', remoteError, signal);
            return answers;
          },
          async reset(config) {
            const isReset = backend.reset(config);
            await points.pass('batch.reset', remoteError);
            await isReset;
          },
        }),
        points,
        'batch.submit',
        null,
      ),
  };
}
