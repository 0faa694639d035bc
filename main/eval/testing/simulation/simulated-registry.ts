// A registry with one replicated nodeset `sim`: sessions of simulated replicas in front of a policy that may be batched,
// whose backend dies, hangs, refuses and answers too much.
import { StudioError } from '../../../base/errors.ts';
import { nodeManifest, type NodeManifest, type NodesetManifest } from '../../../contract/nodeset.ts';
import { createBuiltinCatalog } from '../../../graph/builtin/catalog.ts';
import type { NodeCatalog, NodeHandler, NodeType } from '../../../graph/ports.ts';
import type { BatchBackend, EnsureOptions, GraphSession, NodesetRegistry } from '../../../nodeset/ports.ts';
import { SimulatedReplica, type ReplicaWorld } from './simulated-replica.ts';
import { answerOf, contentOf, observationOf } from './toy-world.ts';

export interface SimulatedRegistry extends NodesetRegistry {
  readonly replicas: readonly SimulatedReplica[];
  /** Ends a living replica of the slot from outside. */
  strike(slot: number): void;
}

const builtins = createBuiltinCatalog();
const manifests: Readonly<Record<string, NodeManifest>> = Object.fromEntries(
  [
    { nodeType: 'sim__observe', outputPorts: [{ name: 'observation' }] },
    {
      nodeType: 'sim__step',
      inputPorts: [{ name: 'action' }],
      outputPorts: [{ name: 'observation' }, { name: 'done', wireType: 'BOOL' }],
    },
    {
      nodeType: 'sim__evaluate',
      inputPorts: [{ name: 'trigger' }],
      outputPorts: [{ name: 'metrics', wireType: 'METRICS' }],
    },
    {
      nodeType: 'sim__policy',
      inputPorts: [{ name: 'observation' }],
      outputPorts: [{ name: 'action' }],
      batched: true,
      batchDim: 'observation',
    },
  ].map((manifest) => [
    manifest.nodeType,
    nodeManifest.parse({ displayName: manifest.nodeType, ...manifest }),
  ]),
);

const nodeset: NodesetManifest = {
  name: 'sim',
  description: '',
  language: 'typescript',
  parallelism: 'replicated',
  nodes: Object.values(manifests),
  containers: [],
  hasEnvPanel: true,
  defaultPerStepBudgetSec: 1,
  startupTimeoutSec: 60,
  deadlinesSec: {},
};

const startDeadlineMs = 60_000;
const success = { name: 'success', unit: '', kind: 'rate', higherIsBetter: true, worst: 0 } as const;
const score = { name: 'score', unit: '', kind: 'count', higherIsBetter: true, worst: null } as const;

export function createSimulatedRegistry(world: ReplicaWorld): SimulatedRegistry {
  const { scheduler, life, faults, broken } = world;
  const replicas: SimulatedReplica[] = [];
  let pids = 0;

  const start = async (
    slot: number,
    signal: AbortSignal | undefined,
    catalogs: Catalogs,
  ): Promise<SimulatedReplica> => {
    const isHanging = faults.strikes('start_hangs', 30);
    const fails = faults.strikes('start_fails', 60);
    const delayMs = isHanging ? startDeadlineMs : 20 + faults.latencyMs();
    await untilAborted(scheduler.sleep(life, delayMs, `start ${slot}`), signal);
    if (isHanging) throw new StudioError('timeout', `sim#${slot} did not start within 60 s`);
    if (fails) throw new StudioError('spawn_failed', 'no memory for another process');
    const former = replicas.find((replica) => replica.slot === slot && !replica.isGone);
    if (former && !faults.has('kill_slow') && !faults.has('close_hangs'))
      broken(`sim#${slot} was started before its predecessor was gone`);
    const replica = new SimulatedReplica(slot, ++pids, world, catalogs);
    replicas.push(replica);
    return replica;
  };

  const open = async (options: EnsureOptions): Promise<GraphSession> => {
    const catalogs = catalogsOf(world, options);
    const starts = await Promise.allSettled(
      Array.from({ length: options.replicaCount }, (_item, slot) => start(slot, options.signal, catalogs)),
    );
    const initial = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const failed = starts.find((each) => each.status === 'rejected');
    if (failed) {
      await Promise.all(initial.map((replica) => replica.kill()));
      throw failed.reason;
    }
    return {
      report: { loaded: ['sim'], alreadyLoaded: [], failed: [], unknown: [] },
      manifests: { manifestOf: (nodeType) => manifests[nodeType] },
      nodesets: [nodeset],
      envNodesets: ['sim'],
      initial,
      evalMetadata: () =>
        Promise.resolve({
          envName: 'simulated',
          splits: [],
          episodeCounts: null,
          // Few declare the second one: its bootstrap costs more than the run.
          metrics: world.toy.seed % 8 === 0 ? [success, score] : [success],
          supportsSetEpisode: true,
          stepBudget: null,
        }),
      startReplicaSet: (slot, limits) => start(slot, limits?.signal, catalogs),
      async [Symbol.asyncDispose]() {
        await Promise.all(replicas.filter((replica) => !replica.isEnded).map((replica) => replica.kill()));
      },
    };
  };

  return {
    replicas,
    strike: (slot) =>
      replicas.findLast((replica) => replica.slot === slot && !replica.isEnded)?.die('SIGKILL'),
    scan: () => Promise.resolve(),
    placeChecks: () => Promise.resolve([]),
    list: () => [
      {
        name: 'sim',
        description: '',
        source: 'sim',
        origin: 'workspace',
        language: 'typescript',
        parallelism: 'replicated',
        state: 'loaded',
        nodeTypes: Object.keys(manifests),
        sourceHash: 'same',
        processes: [],
      },
    ],
    manifest: () => nodeset,
    manifests: { manifestOf: (nodeType) => manifests[nodeType] },
    load: unsupported,
    unload: unsupported,
    reload: unsupported,
    logTail: () => [],
    importsOf: () => [],
    buildEnvironment: unsupported,
    cancelBuild: unsupported,
    lookAtAttached: () => Promise.resolve(),
    lookAtChanges: () => Promise.resolve(),
    nameOfServer: unsupported,
    ensureNodesetsForGraph: (_names, options) => open(options),
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

type Catalogs = (replica: SimulatedReplica) => NodeCatalog;

function catalogsOf(world: ReplicaWorld, { batching }: EnsureOptions): Catalogs {
  const backend = createBackend(world, batching !== undefined);
  const plain: NodeType = {
    manifest: manifestOf('sim__policy'),
    bind: (_nodeId, config) => ({
      forward: async (inputs, { signal }) => (await backend.call([inputs], config, signal))[0] ?? {},
    }),
  };
  const policy = batching ? batching.wrap(plain, backend) : plain;
  return (replica) => {
    const own: Readonly<Record<string, NodeType>> = {
      sim__observe: nodeTypeOf('sim__observe', replica.observe),
      sim__step: nodeTypeOf('sim__step', replica.step),
      sim__evaluate: nodeTypeOf('sim__evaluate', replica.evaluate),
      sim__policy: policy,
    };
    return { lookup: (nodeType) => own[nodeType] ?? builtins.lookup(nodeType) };
  };
}

/** Answers by arithmetic, late or not at all. While it is batched, it checks that calls of one key never overlap. */
function createBackend(world: ReplicaWorld, isBatched: boolean): BatchBackend {
  const { scheduler, life, faults, toy, broken } = world;
  const underWay = new Map<number, number>();
  const needsReset = new Set<number>();
  const refused = refusedObservations(world);
  return {
    call(samples, config, signal) {
      const offset = Number(config['offset']);
      if (isBatched && (underWay.get(offset) ?? 0) > 0) broken(`two batches of policy ${offset} at once`);
      if (needsReset.has(offset)) broken(`policy ${offset} was asked before its reset`);
      if (samples.length === 0) broken('an empty batch');
      underWay.set(offset, (underWay.get(offset) ?? 0) + 1);
      const over = (): void => void underWay.set(offset, (underWay.get(offset) ?? 1) - 1);
      if (isBatched && faults.strikes('backend_hangs', 6)) {
        needsReset.add(offset);
        signal.addEventListener('abort', over, { once: true });
        return new Promise(() => undefined);
      }
      const delayMs = 3 + faults.latencyMs();
      return scheduler.call(life, delayMs, `policy ${offset} x${samples.length}`, () => {
        over();
        if (faults.strikes('backend_dies', 8))
          throw new StudioError('process_died', 'the model host is gone');
        const observations = samples.map((sample) => Number(sample['observation']));
        if (toy.policies[0] === offset && observations.some((each) => refused.has(each)))
          throw new StudioError('node_failed', 'a bad sample');
        const answers = observations.map((each) => ({ action: answerOf(offset, each) }));
        if (faults.strikes('backend_misfits', 8)) return [...answers, ...answers];
        return answers;
      });
    },
    async reset(config = {}) {
      const offset = Number(config['offset']);
      needsReset.delete(offset);
      await scheduler.sleep(life, 5 + faults.latencyMs(), `reset policy ${offset}`);
    },
  };
}

/** First observations of the episodes whose sample the model refuses. */
function refusedObservations({ toy, episodeCount }: ReplicaWorld): ReadonlySet<number> {
  const indices = Array.from({ length: episodeCount }, (_item, index) => index);
  return new Set(
    indices.filter((index) => contentOf(toy, index) === 'refused').map((index) => observationOf(index, 0, 0)),
  );
}

function manifestOf(nodeType: string): NodeManifest {
  const manifest = manifests[nodeType];
  if (!manifest) throw new Error(`no manifest of ${nodeType}`);
  return manifest;
}

const nodeTypeOf = (nodeType: string, handler: NodeHandler): NodeType => ({
  manifest: manifestOf(nodeType),
  bind: () => handler,
});

function unsupported(): never {
  throw new StudioError('unsupported', 'not in a simulation');
}

function untilAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new StudioError('aborted', 'the start was given up'));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}
