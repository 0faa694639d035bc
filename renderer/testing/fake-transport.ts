// A transport over a simulated engine: every request of the contract the pages use, and events like the real feed's.
import type { EventMessage, Reply, RequestInput, RequestName, RequestOutput } from '#contract/api.ts';
import { requests } from '#contract/requests.ts';
import { settings as settingsSchema } from '#contract/settings.ts';
import type { EpisodeAttempt, EpisodeRow, RunListItem } from '#contract/run.ts';
import type { StudioTransport } from '../api/client.ts';
import { errorInfoOf, RequestError } from '../api/request-error.ts';
import {
  configOf,
  finishedRow,
  graphs,
  introspectionOf,
  listItem,
  metrics,
  pendingRow,
  summaryOf,
} from './fake-data.ts';
import { FakeRun, type Publish } from './fake-run.ts';

export interface FakeOptions {
  readonly runs: number;
  readonly rows: number;
  readonly speed: number;
  readonly latencyMs: number;
  readonly isEmpty: boolean;
  readonly isFailing: boolean;
}

type Handler = (input: never) => unknown;
type FakeHandlers = {
  [Name in RequestName]?: (input: RequestInput<Name>) => Promise<RequestOutput<Name>> | RequestOutput<Name>;
};

export function createFakeTransport(options: FakeOptions): StudioTransport {
  const listeners = new Set<(message: EventMessage) => void>();
  let sequence = 0;
  const publish: Publish = (name, payload) => {
    const message = { sequence: (sequence += 1), name, payload } as EventMessage;
    for (const listener of listeners) listener(message);
  };
  const handlers = createHandlers(options, publish) as Partial<Record<RequestName, Handler>>;
  return {
    async request<Name extends RequestName>(name: Name, input: RequestInput<Name>): Promise<Reply<Name>> {
      await new Promise((resolve) => setTimeout(resolve, options.latencyMs));
      try {
        if (options.isFailing && name !== 'app.info')
          throw new RequestError(errorInfoOf('io_failed', 'The disk did not answer. Is it still mounted?'));
        const parsed = requests[name].input.parse(input);
        const handler = handlers[name];
        if (!handler)
          throw new RequestError(errorInfoOf('unsupported', `The preview does not answer ${name}.`));
        return { ok: true, value: (await handler(parsed as never)) as RequestOutput<Name> };
      } catch (thrown) {
        const error =
          thrown instanceof RequestError ? thrown : new RequestError(errorInfoOf('internal', String(thrown)));
        return {
          ok: false,
          error: { code: error.code, message: error.message, scope: error.scope, details: error.details },
        };
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onConnection(listener) {
      listener({ kind: 'open' });
      return () => undefined;
    },
  };
}

function createHandlers(options: FakeOptions, publish: Publish): FakeHandlers {
  const live = new Map<string, FakeRun>();
  let queue: string[] = [];
  let holder: FakeRun | null = null;
  let stored = options.isEmpty ? [] : Array.from({ length: options.runs }, (_unused, at) => listItem(at));
  let settings = settingsSchema.parse({});
  let folders = ['/home/ada/shared-graphs'];
  let contents = [{ path: '/home/ada/downloads/nodesets', hash: '5f1d0c2a9b7e4d33'.repeat(4) }];
  const loaded = new Set<string>();
  const finished = new Map<string, EpisodeRow[]>();

  const rowsOf = (runId: string): EpisodeRow[] => {
    const run = live.get(runId);
    if (run) return run.rows;
    const item = stored.find((candidate) => candidate.runId === runId);
    if (!item)
      throw new RequestError(errorInfoOf('not_found', `There is no run ${runId} in this workspace.`));
    const known = finished.get(runId);
    if (known) return known;
    const size = stored[0]?.runId === runId ? options.rows : item.counts.planned;
    const start = Date.parse(item.createdAt);
    const rows = Array.from({ length: size }, (_unused, at) =>
      at < size - item.counts.notRun ? finishedRow(at, at % 8, start + at * 480) : pendingRow(at),
    );
    finished.set(runId, rows);
    return rows;
  };
  const guard = () => ({
    holder: holder
      ? { kind: 'eval' as const, id: holder.runId, label: holder.name, sinceMs: Date.now() }
      : null,
  });
  const next = (): void => {
    const runId = queue.shift();
    holder = runId === undefined ? null : (live.get(runId) ?? null);
    publish('queue.changed', { runIds: queue });
    publish('guard.changed', guard());
    holder?.begin();
  };
  const items = (): RunListItem[] => [...[...live.values()].map((run) => run.item()).toReversed(), ...stored];

  return {
    'app.info': () => ({
      version: '0.1.0',
      workspace: '/home/ada/AgentCanvas',
      library: '/opt/agentcanvas/library',
      readOnly: false,
      host: 'web',
      platform: 'linux',
      capabilities: ['openFolder'],
      cores: 16,
      memoryBytes: 64 * 1024 ** 3,
      docsUrl: null,
    }),
    'guard.get': guard,
    'graphs.list': () => ({ graphs: options.isEmpty ? [] : graphs }),
    'graphs.introspect': async ({ ref, load }) => {
      const graph = graphs.find((candidate) => candidate.ref === ref);
      if (!graph) throw new RequestError(errorInfoOf('not_found', `There is no graph ${ref}.`));
      if (load) {
        await new Promise((resolve) => setTimeout(resolve, 900));
        loaded.add(ref);
      }
      return introspectionOf(ref, loaded.has(ref));
    },
    'graphs.import': () => ({ ref: graphs[3]?.ref ?? '' }),
    'nodesets.log': ({ name }) => ({
      lines: [`[${name}] starting`, `[${name}] importing torch`, `[${name}] ready in 3.2 s`],
    }),
    'runs.preflight': ({ config }) => ({
      ok: true,
      episodes: config.episodes === 'all' ? 1839 : typeof config.episodes === 'number' ? config.episodes : 50,
      checks: [
        { name: 'graph', ok: true, warning: false, message: 'The graph is valid.', fix: '' },
        { name: 'nodesets', ok: true, warning: false, message: 'Both nodesets load.', fix: '' },
        { name: 'disk', ok: true, warning: false, message: '212 GB are free.', fix: '' },
        {
          name: 'memory',
          ok: false,
          warning: true,
          message: `${config.workerCount} workers want about 3.1 of 4.0 GB free memory.`,
          fix: 'Use fewer workers if other programs need memory.',
        },
      ],
    }),
    'runs.start': ({ config, whenBusy, parentRun }) => {
      if (holder && whenBusy !== 'queue')
        throw new RequestError({
          code: 'guard_busy',
          message: `${holder.name} holds the guard.`,
          scope: {},
          details: {},
        });
      const episodes =
        config.episodes === 'all'
          ? 1839
          : typeof config.episodes === 'number'
            ? config.episodes
            : 'indices' in (config.episodes ?? {})
              ? (config.episodes as { indices: number[] }).indices.length
              : 50;
      const run = new FakeRun({
        runId: `live-${live.size + 1}`,
        config: { ...configOf(config.graph), ...config } as FakeRun['config'],
        episodes: episodes ?? 50,
        speed: options.speed,
        parentRun: parentRun ?? null,
        publish,
        onEnd: () => next(),
      });
      live.set(run.runId, run);
      const queued = holder !== null;
      if (queued) {
        queue.push(run.runId);
        publish('queue.changed', { runIds: queue });
      } else {
        holder = run;
        publish('guard.changed', guard());
        run.begin();
      }
      return { runId: run.runId, queued };
    },
    'runs.resume': ({ runId }) => {
      const run = live.get(runId);
      if (!run)
        throw new RequestError(
          errorInfoOf(
            'conflict',
            'The nodeset minivln changed since this run started: source hash 3f1c, now 77ab.',
          ),
        );
      holder = run;
      publish('guard.changed', guard());
      run.begin();
      return { runId, missing: 1 };
    },
    'runs.stop': ({ runId }) => (live.get(runId)?.stop(), {}),
    'runs.cancel': ({ runId }) => {
      queue = queue.filter((other) => other !== runId);
      publish('queue.changed', { runIds: queue });
      live.get(runId)?.cancel();
      return {};
    },
    'runs.list': ({ offset = 0, limit = 200, search = '', statuses = [], sort }) => {
      const words = search.toLowerCase();
      const found = items()
        .filter((item) => statuses.length === 0 || statuses.includes(item.status))
        .filter((item) =>
          `${item.runId} ${item.name} ${item.graphName} ${item.split} ${item.note} ${item.tags.join(' ')}`
            .toLowerCase()
            .includes(words),
        );
      const column = (sort?.column ?? 'createdAt') as keyof RunListItem;
      const sign = (sort?.descending ?? true) ? -1 : 1;
      const keyOf = (item: RunListItem): string => JSON.stringify(item[column]);
      const sorted = found.toSorted(
        (a, b) => sign * (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0),
      );
      return { rows: sorted.slice(offset, offset + limit), total: sorted.length };
    },
    'runs.get': ({ runId }) => {
      const run = live.get(runId);
      const item = run?.item() ?? stored.find((candidate) => candidate.runId === runId);
      if (!item)
        throw new RequestError(errorInfoOf('not_found', `There is no run ${runId} in this workspace.`));
      return {
        folder: `/home/ada/AgentCanvas/outputs/eval_runs/${runId}`,
        summary: summaryOf(rowsOf(runId)),
        record: recordOf(item, run?.config ?? configOf(graphs[0]?.ref ?? '')),
      };
    },
    'runs.live': ({ runId }) => live.get(runId)?.live(0) ?? null,
    'runs.episodes': ({ runId, offset = 0, limit = 200 }) => {
      const rows = rowsOf(runId);
      return { rows: rows.slice(offset, offset + limit), total: rows.length };
    },
    'runs.attempts': ({ runId, ordinal }) => ({ attempts: attemptsOf(rowsOf(runId)[ordinal]) }),
    'runs.update': ({ runId, name, tags, note }) => {
      stored = stored.map((item) =>
        item.runId === runId
          ? { ...item, name: name ?? item.name, tags: tags ?? item.tags, note: note ?? item.note }
          : item,
      );
      const item = stored.find((candidate) => candidate.runId === runId);
      if (item) publish('run.changed', { runId, item });
      return {};
    },
    'runs.delete': ({ runIds }) => {
      stored = stored.filter((item) => !runIds.includes(item.runId));
      for (const runId of runIds) publish('run.deleted', { runId });
      return { deleted: runIds };
    },
    'runs.export': ({ runId, format }) => ({
      fileName: `${runId}.${format}`,
      mimeType: 'text/plain',
      content: JSON.stringify(rowsOf(runId)),
    }),
    'runs.queue': () => ({ runIds: queue }),
    'runs.reorderQueue': ({ runIds }) => {
      queue = runIds;
      publish('queue.changed', { runIds });
      return {};
    },
    'runs.frame': async ({ worker }) => ({ mimeType: 'image/png', base64: await frameOf(worker), step: 0 }),
    'settings.get': () => ({ settings, path: '/home/ada/AgentCanvas/agentcanvas.json' }),
    'settings.set': ({ settings: changed }) => {
      settings = settingsSchema.parse(changed);
      return {};
    },
    'trust.list': () => ({ folders, contents }),
    'trust.add': ({ folder }) => ((folders = [...folders, folder]), {}),
    'trust.addContent': ({ path, hash = 'a1b2c3' }) => (
      (contents = [...contents, { path, hash }]),
      { path, hash }
    ),
    'trust.removeContent': ({ path }) => ((contents = contents.filter((other) => other.path !== path)), {}),
    'trust.remove': ({ folder }) => ((folders = folders.filter((other) => other !== folder)), {}),
    'doctor.run': () => ({
      ok: false,
      checks: [
        { name: 'Node.js', ok: true, command: 'node --version', output: 'v24.22.3', fix: '' },
        { name: 'Python', ok: true, command: 'python3 --version', output: 'Python 3.12.4', fix: '' },
        {
          name: 'GPU',
          ok: false,
          command: 'nvidia-smi',
          output: 'nvidia-smi: command not found',
          fix: 'Install the driver, or run on the CPU.',
        },
      ],
    }),
    'shell.openFolder': () => ({}),
  };
}

function recordOf(
  item: RunListItem,
  config: ReturnType<typeof configOf>,
): RequestOutput<'runs.get'>['record'] {
  return {
    formatVersion: 1,
    runId: item.runId,
    name: item.name,
    parentRun: item.parentRun,
    status: item.status,
    config,
    graphName: item.graphName,
    graphPath: '/opt/agentcanvas/library/graphs/minivln-policy.json',
    envNodeset: 'minivln',
    envName: item.envName,
    split: item.split,
    metrics: [...metrics],
    stepBudget: 500,
    perStepBudgetSec: 30,
    provenance: {
      appVersion: '0.1.0',
      gitCommit: '1f0c2d7e9a',
      graphHash: '9d3a77f1c0',
      nodesets: [{ name: 'minivln', sourceHash: '3f1c' }],
      interpreters: [],
      models: [{ path: 'models/vln_policy.onnx', hash: 'c0ffee12' }],
      host: 'ada-workstation',
      os: 'linux 6.8',
      cpu: 'Ryzen 9',
      cores: 16,
      memoryBytes: 64 * 1024 ** 3,
      gpu: null,
    },
    createdAt: item.createdAt,
    startedAt: item.createdAt,
    finishedAt: item.finishedAt,
    activeMs: item.activeMs,
    error:
      item.status === 'failed'
        ? {
            code: 'nodeset_failed',
            message:
              'The nodeset torch_policies could not be loaded: ModuleNotFoundError: No module named “torch”.',
            scope: {},
            details: {
              stderr: ['Traceback (most recent call last):', 'ModuleNotFoundError: No module named torch'],
            },
          }
        : null,
    pausedBecause: item.status === 'paused' ? 'Less than 500 MB were free on the disk.' : null,
    tags: item.tags,
    note: item.note,
  };
}

function attemptsOf(row: EpisodeRow | undefined): EpisodeAttempt[] {
  if (!row || row.status === 'pending' || row.status === 'running' || row.status === 'cancelled') return [];
  const error =
    row.errorCode === null
      ? null
      : {
          code: 'process_died' as const,
          message: row.errorMessage ?? '',
          scope: { phase: 'step', step: 12 },
          details: {},
          signal: row.status === 'died' ? 'SIGSEGV' : null,
          exitCode: null,
          stderrTail: ['simulator: loading scene', 'simulator: Segmentation fault (core dumped)'],
        };
  return Array.from({ length: row.attempts }, (_unused, at) => ({
    ordinal: row.ordinal,
    key: row.key,
    episodeIndex: row.episodeIndex,
    episodeId: row.episodeId,
    sceneId: row.sceneId,
    instruction: row.instruction,
    repeat: 0,
    seed: 1234,
    attempt: at + 1,
    epoch: at,
    final: at === row.attempts - 1,
    status: at === row.attempts - 1 ? (row.status as EpisodeAttempt['status']) : 'died',
    metrics: row.metrics,
    steps: row.steps ?? 0,
    stepBudget: 500,
    limit: null,
    startedAt: row.startedAt ?? new Date().toISOString(),
    durationMs: row.durationMs ?? 0,
    worker: row.worker ?? 0,
    replica: `minivln#${row.worker ?? 0}`,
    error,
    nodeErrors: [],
    recording: 'none',
  }));
}

/** A picture of a corridor that moves. */
async function frameOf(worker: number): Promise<string> {
  const canvas = new OffscreenCanvas(128, 96);
  const context = canvas.getContext('2d');
  if (!context) return '';
  const shift = (Date.now() / 40 + worker * 31) % 128;
  context.fillStyle = '#8fa3b5';
  context.fillRect(0, 0, 128, 48);
  context.fillStyle = '#7a6651';
  context.fillRect(0, 48, 128, 48);
  context.fillStyle = '#c9b79a';
  context.fillRect(128 - shift, 20, 30, 60);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}
