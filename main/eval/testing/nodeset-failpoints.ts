// Named points around nodesets: sessions, replicas, their panels, their node types, the batched tier.
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
import type { FailpointName, Failpoints } from './failpoints.ts';

const remoteError = (): Error => new StudioError('remote_error', 'failpoint');

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
      // Its processes end all the same; it is our wait for it that fails.
      const isClosed = inner[Symbol.asyncDispose]();
      await points.pass('session.close', remoteError);
      await isClosed;
    },
  };
}

function failpointReplica(inner: ReplicaSet, points: Failpoints): ReplicaSet {
  return {
    slot: inner.slot,
    instances: inner.instances,
    pids: inner.pids,
    death: inner.death,
    broken: () => inner.broken(),
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
