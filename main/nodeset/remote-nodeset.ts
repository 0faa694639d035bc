// A nodeset in a process of its own: started, described, initialised, and then node types, panel and metadata like
// any other. Either it is ready or nothing of it is left.
import type { Clock } from '../base/clock.ts';
import { StudioError, toStudioError } from '../base/errors.ts';
import type { EvalMetadata, NodesetManifest } from '../contract/nodeset.ts';
import type { NodeType } from '../graph/ports.ts';
import type { HostProcess, LogSink } from '../process/ports.ts';
import type { CallDeadlines } from './deadlines.ts';
import { awakeUs } from './awake.ts';
import { createRemotePanel } from './env-panel-client.ts';
import { ProcessLink, type EngineMethods, type HostLink } from './host-link.ts';
import type { HostCommand } from './hosts/launcher.ts';
import type { BatchBackend, CallLimits, EnvPanelClient } from './ports.ts';
import { createProxyNodeType } from './proxy-node.ts';
import { ownSharedFolder, removeSharedFolder } from './shared-folders.ts';
import type { HostPlacement, Spawner } from './spawners/spawner.ts';
import type { StageReporter } from './stages.ts';
import { evalMetadataFromWire, manifestFromWire } from './wire-form.ts';

export interface HostStart {
  readonly instance: string;
  /** Of the process; default: the instance. */
  readonly processLabel?: string | undefined;
  readonly command: HostCommand;
  readonly spawner: Spawner;
  readonly placement?: HostPlacement | undefined;
  /** It waits awake for its next call. */
  readonly staysAwake?: boolean | undefined;
  readonly clock: Clock;
  readonly stages: StageReporter;
  /** From the handshake to ready. */
  readonly readyMs: number;
  readonly engineMethods?: EngineMethods | undefined;
  /** From spawn to connection; default: the product's. */
  readonly handshakeMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly logFolder?: string | undefined;
  readonly logSink?: LogSink | undefined;
  /** Gives a part of a process that is shared, which it may start with `launch`. */
  readonly share?: ((launch: () => Promise<HostProcess>) => Promise<HostProcess>) | undefined;
}

export interface StartedHost {
  readonly link: ProcessLink;
  readonly manifest: NodesetManifest;
}

/** Starts a host and reads its manifest; `until: 'ready'` initialises it too. */
export async function startNodesetHost(start: HostStart, until: 'described' | 'ready'): Promise<StartedHost> {
  const { stages, clock, instance } = start;
  const deadlineMs = clock.monotonic() + start.readyMs;
  stages.report('starting');
  const host = await (start.share ? start.share(() => launch(start)) : launch(start));
  const link = new ProcessLink({ instance, host, clock, engineMethods: start.engineMethods });
  const ask = (method: string, params: unknown = {}): Promise<unknown> => {
    const timeoutMs = Math.max(1, deadlineMs - clock.monotonic());
    return link.call(method, params, { timeoutMs, phase: 'start', signal: start.signal });
  };
  const progress = host.connection.onNote((method, params) => relayProgress(method, params, stages));
  try {
    const sharesMemory = process.platform === 'linux' && host.sharesMemory !== false;
    const features = sharesMemory ? ['again', 'shm'] : ['again'];
    attachFeatures(host, await ask('hello', { features, ...(start.staysAwake && { awake_us: awakeUs }) }));
    stages.report('importing');
    const manifest = manifestFromWire(await ask('manifest'), instance);
    if (until === 'ready') {
      stages.report('initialising');
      await ask('initialize');
      stages.report('ready');
    }
    return { link, manifest };
  } catch (error) {
    await endFailedStart(host, start, toStudioError(error));
    const logTail = host.process.stderrTail(20);
    const failure = await explained(start, startFailure(start, error, logTail));
    stages.report('failed', { message: failure.message, logTail });
    throw failure;
  } finally {
    progress[Symbol.dispose]();
  }
}

/** Those who share its process go on, unless it hangs or says that it cannot. */
async function endFailedStart(host: HostProcess, { share }: HostStart, error: StudioError): Promise<void> {
  if (share && error.code !== 'timeout' && error.code !== 'fatal') await host.stop();
  else await host.kill();
}

async function launch(start: HostStart): Promise<HostProcess> {
  const { command, spawner, placement, stages, handshakeMs, signal, logFolder, logSink } = start;
  try {
    const { explain: _explain, files: _files, ...launched } = command;
    return await spawner.start({
      ...launched,
      placement,
      label: start.processLabel ?? start.instance,
      onStage: ({ message }) => stages.report('starting', { message }),
      ...(handshakeMs !== undefined && { startTimeoutMs: handshakeMs }),
      ...(signal && { signal }),
      ...(logFolder !== undefined && { logFolder }),
      ...(logSink && { logSink }),
    });
  } catch (error) {
    const failure = await explained(start, toStudioError(error, 'spawn_failed').within({ phase: 'start' }));
    stages.report('failed', { message: failure.message });
    throw failure;
  }
}

async function explained({ command }: HostStart, failure: StudioError): Promise<StudioError> {
  return (await command.explain?.(failure)) ?? failure;
}

/** What the host's own code did wrong is `nodeset_failed` with its trace; what befell the process keeps its code. */
function startFailure({ instance }: HostStart, thrown: unknown, stderrTail: readonly string[]): StudioError {
  const error = toStudioError(thrown, 'nodeset_failed');
  const details = { stderrTail, ...error.details };
  if (['aborted', 'timeout', 'process_died', 'connection_closed', 'protocol_error'].includes(error.code)) {
    return new StudioError(error.code, error.message, { cause: error, scope: { phase: 'start' }, details });
  }
  return new StudioError('nodeset_failed', `${instance} could not be started: ${error.message}`, {
    cause: error,
    scope: { phase: 'start' },
    details,
  });
}

function attachFeatures(host: HostProcess, hello: unknown): void {
  if (!isRecord(hello) || !Array.isArray(hello['features'])) return;
  if (hello['features'].includes('again')) host.connection.allowFiringAgain();
  const folder = hello['shm_dir'];
  if (!hello['features'].includes('shm') || typeof folder !== 'string') return;
  host.connection.attachSharedMemory(ownSharedFolder(folder, host.process.pid));
  // A host that is killed cannot remove it.
  void host.process.exited.then(() => removeSharedFolder(folder));
}

function relayProgress(method: string, params: unknown, stages: StageReporter): void {
  if (method !== 'progress' || !isRecord(params)) return;
  const { stage, message } = params;
  const text = [stage, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  stages.report('initialising', { message: text });
}

/** What a running host offers, over whatever link leads to it. */
export class RemoteNodeset {
  readonly manifest: NodesetManifest;
  readonly nodeTypes: readonly NodeType[];
  readonly panel: EnvPanelClient | undefined;
  readonly #link: HostLink;
  readonly #deadlines: CallDeadlines;

  constructor(manifest: NodesetManifest, link: HostLink, deadlines: CallDeadlines) {
    this.manifest = manifest;
    this.#link = link;
    this.#deadlines = deadlines;
    const isEnvironment = manifest.hasEnvPanel;
    this.nodeTypes = manifest.nodes.map((node) =>
      createProxyNodeType({ manifest: node, link, deadlines, isEnvironment }),
    );
    this.panel = manifest.hasEnvPanel ? createRemotePanel(link, deadlines) : undefined;
  }

  async evalMetadata(limits: CallLimits = {}): Promise<EvalMetadata | null> {
    const timeoutMs = limits.timeoutMs ?? this.#deadlines.callMs;
    const answer = await this.#link.call(
      'eval_metadata',
      {},
      { timeoutMs, phase: 'call', signal: limits.signal },
    );
    return evalMetadataFromWire(answer, this.#link.instance);
  }

  /** `restart` makes the next call meet a fresh process. */
  batchBackend(nodeType: string, restart: () => Promise<void>): BatchBackend {
    const { firstCallMs, callMs } = this.#deadlines;
    let warmGeneration = -1;
    return {
      call: async (samples, config, signal) => {
        const timeoutMs = warmGeneration === this.#link.generation ? callMs : firstCallMs;
        const answer = await this.#link.call(
          'node.batch',
          { type: nodeType, samples, config },
          { timeoutMs, phase: 'call', signal },
        );
        warmGeneration = this.#link.generation;
        return outputsOf(answer, { instance: this.#link.instance, nodeType, expected: samples.length });
      },
      reset: restart,
    };
  }

  /** Never throws: a host that is gone holds nothing. */
  endExecution(exec: string): void {
    const { callMs } = this.#deadlines;
    this.#link.call('execution.end', { exec }, { timeoutMs: callMs, phase: 'close' }).catch(() => {
      // Its owner learns of a dead or stuck process by the process's end and the next call.
    });
  }
}

function outputsOf(
  answer: unknown,
  asked: { instance: string; nodeType: string; expected: number },
): readonly Readonly<Record<string, unknown>>[] {
  const outputs = isRecord(answer) ? answer['outputs'] : undefined;
  if (Array.isArray(outputs) && outputs.length === asked.expected && outputs.every(isRecord)) return outputs;
  const got = Array.isArray(outputs) ? `${outputs.length} results` : 'no list of results';
  throw new StudioError(
    'remote_error',
    `${asked.instance} answered a batch of ${asked.expected} for ${asked.nodeType} with ${got}; it must return one object per sample, in order`,
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
