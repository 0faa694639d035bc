// Turns a version of a nodeset into a running one: in the engine, as one supervised server, or as a replica.
import type { Clock } from '../base/clock.ts';
import type { SpawnPlace } from '../contract/spawners.ts';
import type { Deadlines } from '../contract/settings.ts';
import { withdraw } from '../process/packed-host.ts';
import type { LogSink } from '../process/ports.ts';
import { startAttached, type ServerPorts } from './attached-nodeset.ts';
import { deadlinesOf, type CallDeadlines, type DefaultDeadlines } from './deadlines.ts';
import type { EngineMethods, ProcessLink } from './host-link.ts';
import type { HostLauncher } from './hosts/launcher.ts';
import type { LiveNodeset, ReplicaNodeset } from './live-nodeset.ts';
import { loadLocalNodeset } from './local-nodeset.ts';
import { packedPlace, type PackedPlace, type PackedProcesses } from './packed-processes.ts';
import type { LoadStage } from './ports.ts';
import { RemoteNodeset, startNodesetHost, type HostStart, type StartedHost } from './remote-nodeset.ts';
import type { Spawner } from './spawners/spawner.ts';
import { createStageReporter } from './stages.ts';
import { SupervisedHost } from './supervised-host.ts';
import { livesInEngine, type NodesetSource, type NodesetVersion } from './version.ts';

/** What every start needs, the same for the registry's whole life. */
export interface NodesetRuntime {
  readonly clock: Clock;
  readonly spawner: Spawner;
  /** Where processes of a nodeset run, unless a run says otherwise; default: on this machine. */
  readonly placeOf?: ((source: NodesetSource, forRun?: SpawnPlace) => SpawnPlace) | undefined;
  readonly launchers: Readonly<Record<NodesetSource['language'], HostLauncher>>;
  readonly engineMethods?: EngineMethods | undefined;
  /** Of Settings, for nodesets that declare nothing; read at each start. */
  readonly deadlines?: (() => DefaultDeadlines & Pick<Deadlines, 'handshakeSec'>) | undefined;
  /** Where tokens of attached servers are; default: the engine's own environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default: what the system grants this process. */
  readonly coreCount?: number | undefined;
  /** Every line a nodeset's process prints. */
  readonly logSinkFor: (nodeset: string, instance: string) => LogSink;
}

export interface LiveStart {
  readonly signal?: AbortSignal | undefined;
  readonly onStage?: ((stage: LoadStage) => void) | undefined;
  readonly logFolder?: string | undefined;
  /** The run's wish for processes per worker. */
  readonly place?: SpawnPlace | undefined;
  /** There are cores enough for the process to wait awake for its next call. */
  readonly staysAwake?: boolean | undefined;
}

/** The one instance all workers use. */
export async function startShared(
  runtime: NodesetRuntime,
  version: NodesetVersion,
  start: LiveStart,
): Promise<LiveNodeset> {
  if (version.source.origin === 'attached') return await startAttached(version, serverPorts(runtime), start);
  return livesInEngine(version)
    ? await startInEngine(runtime, version, start)
    : await startServer(runtime, version, start);
}

export function serverPorts({ clock, environment = process.env, deadlines }: NodesetRuntime): ServerPorts {
  return { clock, environment, deadlines: deadlines?.() };
}

/** Where the processes of a session are shared. */
export interface ReplicaPacking {
  readonly processes: PackedProcesses;
  readonly workerCount: number;
  readonly envsPerProcess: number;
}

/** `name#slot`: one worker's own process, or its part of one. */
export async function startReplica(
  runtime: NodesetRuntime,
  version: NodesetVersion,
  start: LiveStart & { readonly slot: number; readonly packing?: ReplicaPacking | undefined },
): Promise<ReplicaNodeset> {
  const { name } = version.source;
  const instance = `${name}#${start.slot}`;
  const { packing } = start;
  const packed =
    packing && sharesProcess(runtime, version, start.place)
      ? packedPlace(name, start.slot, packing)
      : undefined;
  const part = packing && packed ? { processes: packing.processes, place: packed } : undefined;
  const { link, manifest } = await startProcess(runtime, version, { ...start, instance, part });
  const deadlines = deadlinesOf(manifest, runtime.deadlines?.());
  return replicaNodeset(new RemoteNodeset(manifest, link, deadlines), link, deadlines);
}

/** A short-lived process that only says what the nodeset is. */
export async function describeInProcess(
  runtime: NodesetRuntime,
  version: Pick<NodesetVersion, 'source' | 'bundlePath' | 'interpreter'>,
  limits: Pick<LiveStart, 'signal' | 'onStage'> & { readonly readyMs: number },
): Promise<NodesetVersion['manifest']> {
  const { name } = version.source;
  const { link, manifest } = await startNodesetHost(
    await hostStart(runtime, version, { ...limits, instance: name }),
    'described',
  );
  await link.host.kill();
  return manifest;
}

async function startInEngine(
  { clock }: NodesetRuntime,
  version: NodesetVersion,
  start: LiveStart,
): Promise<LiveNodeset> {
  const { name } = version.source;
  const stages = createStageReporter({ nodeset: name, instance: name, clock, onStage: start.onStage });
  try {
    const onStage = (stage: 'importing' | 'initialising'): void => stages.report(stage);
    const nodeset = await loadLocalNodeset({
      name,
      bundlePath: version.bundlePath ?? '',
      clock,
      signal: start.signal,
      onStage,
    });
    stages.report('ready');
    return nodeset;
  } catch (error) {
    stages.report('failed', { message: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

async function startServer(
  runtime: NodesetRuntime,
  version: NodesetVersion,
  start: LiveStart,
): Promise<LiveNodeset> {
  const { clock } = runtime;
  const instance = version.source.name;
  const deadlines = deadlinesOf(version.manifest, runtime.deadlines?.());
  const first = await startProcess(runtime, version, { ...start, instance });
  const again = (signal: AbortSignal): Promise<StartedHost> =>
    startProcess(runtime, version, { ...start, instance, signal });
  const server = new SupervisedHost({ instance, clock, closeMs: deadlines.closeMs, start: again }, first);
  return serverNodeset(new RemoteNodeset(first.manifest, server, deadlines), server);
}

/** Hosts of other languages serve one environment; elsewhere than here a replica stands for a place of its own. */
function sharesProcess(
  runtime: NodesetRuntime,
  { source, manifest }: NodesetVersion,
  forRun: SpawnPlace | undefined,
): boolean {
  if (source.language !== 'python' || manifest.sharesProcess === false) return false;
  return (runtime.placeOf?.(source, forRun) ?? 'local') === 'local';
}

interface ProcessPart {
  readonly processes: PackedProcesses;
  readonly place: PackedPlace;
}

async function startProcess(
  runtime: NodesetRuntime,
  version: NodesetVersion,
  start: LiveStart & { readonly instance: string; readonly part?: ProcessPart | undefined },
): Promise<StartedHost> {
  const readyMs = version.manifest.startupTimeoutSec * 1000;
  return await startNodesetHost(await hostStart(runtime, version, { ...start, readyMs }), 'ready');
}

async function hostStart(
  runtime: NodesetRuntime,
  version: Pick<NodesetVersion, 'source' | 'bundlePath' | 'interpreter'>,
  start: LiveStart & {
    readonly instance: string;
    readonly readyMs: number;
    readonly part?: ProcessPart | undefined;
  },
): Promise<HostStart> {
  const { clock, spawner, engineMethods, deadlines } = runtime;
  const handshakeSec = deadlines?.().handshakeSec;
  const { name, language } = version.source;
  const stages = createStageReporter({
    nodeset: name,
    instance: start.instance,
    clock,
    onStage: start.onStage,
  });
  stages.report('resolving');
  const { instance, readyMs, signal, logFolder } = start;
  const place = runtime.placeOf?.(version.source, start.place) ?? 'local';
  const { part } = start;
  const processLabel = part?.place.label ?? instance;
  const command = await runtime.launchers[language].commandFor({
    version,
    instance: processLabel,
    place,
    channelCount: part?.place.channelCount,
  });
  const { files = [] } = command;
  const needs = version.source.needs ?? {};
  return {
    instance,
    processLabel,
    staysAwake: start.staysAwake === true && place === 'local',
    ...(part && { share: (launch) => part.processes.join(part.place, launch, signal) }),
    readyMs,
    signal,
    logFolder,
    command,
    placement: { place, nodeset: name, needs, files, interpreter: command.command },
    spawner,
    clock,
    stages,
    engineMethods,
    handshakeMs: handshakeSec === undefined ? undefined : handshakeSec * 1000,
    logSink: runtime.logSinkFor(name, processLabel),
  };
}

function serverNodeset(remote: RemoteNodeset, server: SupervisedHost): LiveNodeset {
  const { manifest, nodeTypes, panel } = remote;
  return {
    manifest,
    nodeTypes,
    panel,
    evalMetadata: (limits) => remote.evalMetadata(limits),
    batchBackend: (nodeType) => remote.batchBackend(nodeType, () => server.restart()),
    endExecution: (executionId) => remote.endExecution(executionId),
    get host() {
      return server.host;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function replicaNodeset(
  remote: RemoteNodeset,
  link: ProcessLink,
  { closeMs }: CallDeadlines,
): ReplicaNodeset {
  const { manifest, nodeTypes, panel } = remote;
  const { host, instance } = link;
  return {
    instance,
    host,
    manifest,
    nodeTypes,
    panel,
    evalMetadata: (limits) => remote.evalMetadata(limits),
    endExecution: (executionId) => remote.endExecution(executionId),
    broken: () => link.broken,
    async stop() {
      // A stuck or broken process is not asked.
      await (link.broken || host.connection.isClosed
        ? host.kill()
        : host.stop({ shutdownTimeoutMs: closeMs }));
    },
    async kill() {
      await host.kill();
    },
    withdraw: () => withdraw(host, { shutdownTimeoutMs: closeMs }),
  };
}
