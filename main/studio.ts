// The composition root: the only place that calls constructors. Whatever is acquired here is released in reverse order,
// and nothing the studio started is alive after it is disposed.
import os from 'node:os';
import path from 'node:path';
import { AgentCanvasRuns } from './agentcanvas-runs.ts';
import { systemClock, type Clock } from './base/clock.ts';
import { silentLogger, type Logger } from './base/logger.ts';
import { createRedactor, type Redactor } from './base/redactor.ts';
import { chatNodesOf } from './chat-handlers.ts';
import type { Settings } from './contract/settings.ts';
import { createDispatcher, type Dispatcher } from './dispatch.ts';
import { createExecutionGuard } from './eval/execution-guard.ts';
import { PlayService } from './eval/play-service.ts';
import { createQueueFile } from './eval/queue-file.ts';
import { createRecordings, type Recordings } from './eval/recording.ts';
import { RunService } from './eval/run-service.ts';
import type { RunServicePorts } from './eval/run-service-ports.ts';
import { EventFeed } from './event-feed.ts';
import { createGraphSource } from './graph-source.ts';
import { GraphLibrary } from './graph/library.ts';
import { createShellHookRunner } from './graph/shell-hook-runner.ts';
import { BatchedInferenceServer } from './inference/inference-server.ts';
import { engineLayout, type EngineLayout } from './layout.ts';
import { openChat } from './llm/open-chat.ts';
import type { ChatService, KeyCipher } from './llm/ports.ts';
import { openLogFiles } from './log-files.ts';
import { createMediaFiles, sweepUploads, type MediaFiles } from './media-files.ts';
import { createNodesetLayer, type NodesetLayer } from './nodeset-layer.ts';
import { RecoveryLog } from './recovery-log.ts';
import { createNodesetGate, trustAll, trustPlacesOf, type WantedTrust } from './code-trust.ts';
import { createHandlers, type HostKind } from './request-handlers.ts';
import { createRunProvenance } from './run-provenance.ts';
import { atomicWrite } from './store/atomic-write.ts';
import type { BulkWork } from './store/bulk-work.ts';
import { createBulkThread } from './store/bulk-thread.ts';
import { nodeFileSystem } from './store/node-file-system.ts';
import { createRunId } from './store/run-id.ts';
import type { RunStore } from './store/ports.ts';
import { openRunStore } from './store/run-store.ts';
import { userFolder } from './store/workspace.ts';
import { readableGraph, tellImported } from './transfer-handlers.ts';
import { openWorkspace, type WorkspaceAccess } from './workspace-access.ts';

export interface StudioOptions extends WantedTrust {
  readonly host: HostKind;
  readonly workspace?: string | undefined;
  readonly readOnly?: boolean;
  readonly logger?: Logger;
  /** Queued runs wait for `releaseQueue`. */
  readonly holdQueue?: boolean;
  /** Opens a folder of the workspace for the user, where the host can. */
  readonly openFolder?: (folder: string) => Promise<void>;
  /** Encrypts the keys of model providers, where the host has a key store. */
  readonly keyCipher?: KeyCipher | undefined;
}

export interface Studio extends AsyncDisposable {
  readonly dispatcher: Dispatcher;
  readonly feed: EventFeed;
  readonly logger: Logger;
  readonly layout: EngineLayout;
  /** Recorded assets, exports and uploads, by address. */
  readonly media: MediaFiles;
  readonly workspaceFolder: string;
  /** Publishes where this process takes the requests of others. */
  announce(address: string): Promise<void>;
  /** Lets queued runs start, now and whenever nothing else executes. */
  releaseQueue(): void;
  /** Label of the run that holds the engine now. */
  activeRun(): string | null;
  /** Ends every child at once. */
  killAll(): void;
}

/** Throws `workspace_busy`, `read_only` or `corrupt`; then nothing is left open. */
export async function createStudio(options: StudioOptions): Promise<Studio> {
  await using stack = new AsyncDisposableStack();
  const { opened, nodesets, feed, bulk, library, parts, replaceSettings } = await openParts(options, stack);
  const { redactor, chat, recovery } = opened;
  const { access, layout, readOnly, logger } = opened;
  const recordings = openRecordings(opened, feed, stack);
  const runs = stack.use(
    createRunService({ ...parts, holdQueue: options.holdQueue ?? false }, opened, { recordings, bulk }),
  );
  if (!readOnly) recovery.addRuns(await runs.recover());
  const play = stack.use(new PlayService({ ...parts, hooks: createShellHookRunner(), chat }));
  const { host, openFolder } = options;
  const own = { host, openFolder, layout, access, readOnly, chat, recovery, pythonProbe: nodesets.probe };
  const hasKeyStore = options.keyCipher !== undefined;
  const media = await openMedia(opened);
  const agentCanvasRuns = readOnly ? null : openAgentCanvasRuns(opened, parts, { bulk, feed });
  const made = { agentCanvasRuns, library, runs, recordings, media, bulk, play, feed, replaceSettings };
  const handlers = createHandlers({ ...parts, ...own, ...made, hasKeyStore });
  const dispatcher = createDispatcher({ handlers, logger, redact: redactor.value });
  const resources = stack.move();
  return {
    dispatcher,
    feed,
    logger,
    layout,
    media,
    workspaceFolder: access.workspace.folder,
    releaseQueue: () => runs.releaseQueue(),
    announce: async (address) => access.lock?.announce(address),
    activeRun: () => (parts.guard.holder?.kind === 'eval' ? parts.guard.holder.label : null),
    killAll: () => void nodesets.processes.stopAll({ deadlineMs: 0 }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

interface Parts {
  readonly opened: Opened;
  readonly nodesets: NodesetLayer;
  readonly feed: EventFeed;
  readonly bulk: BulkWork;
  readonly library: GraphLibrary;
  readonly parts: SharedPorts;
  readonly replaceSettings: (next: Settings) => Promise<void>;
}

/** Workspace, processes, nodesets and store: what the services are built on. */
async function openParts(options: StudioOptions, stack: AsyncDisposableStack): Promise<Parts> {
  const { readOnly = false } = options;
  const clock = systemClock;
  const layout = engineLayout();
  const access = stack.use(
    await openWorkspace({ workspace: options.workspace, readOnly, resources: layout.resources }),
  );
  const redactor = createRedactor();
  const logger = options.logger ?? openLog(access, { readOnly, redactor }, stack);
  const feed = stack.use(new EventFeed(clock, redactor.value, logger));
  const recovery = new RecoveryLog();
  if (access.lock?.staleOwner) recovery.addStaleOwner(access.lock.staleOwner);
  let settings = await readSettings(access, { feed, recovery });
  await trustAll(trustPlacesOf(access, settings), options);
  const chat = stack.use(
    await openChat({
      clock,
      redactor,
      settings: () => settings.chat,
      userFolder: userFolder(process.env, process.platform),
      cipher: options.keyCipher,
      environment: process.env,
    }),
  );
  const opened = { clock, logger, layout, access, readOnly, redactor, chat, recovery };
  const nodesets = stack.use(await openNodesets(opened, () => settings));
  const bulk = stack.use(createBulkThread(layout.bulkWorker));
  const store = stack.use(await openStore(opened, bulk));
  const library = openLibrary(opened);
  const { registry } = nodesets;
  await registry.scan({ retryFailed: false });
  stack.use(registry.onChange((nodeset) => feed.publish('nodeset.changed', { nodeset })));
  const parts: SharedPorts = {
    clock,
    logger,
    store,
    registry,
    guard: createExecutionGuard(clock),
    graphs: createGraphSource(library, registry.manifests),
    events: feed,
    settings: () => settings,
    sequence: () => feed.sequence,
  };
  const replaceSettings = async (next: Settings): Promise<void> => {
    await access.settings.write(next);
    settings = next;
  };
  return { opened, nodesets, feed, bulk, library, parts, replaceSettings };
}

/** A reader of somebody else's workspace writes nothing into it. */
function openLog(
  access: WorkspaceAccess,
  { readOnly, redactor }: { readonly readOnly: boolean; readonly redactor: Redactor },
  stack: AsyncDisposableStack,
): Logger {
  if (readOnly) return silentLogger;
  return stack.use(openLogFiles(path.join(access.workspace.cacheFolder, 'logs'), redactor.text)).logger;
}

interface Opened {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly layout: EngineLayout;
  readonly access: WorkspaceAccess;
  readonly readOnly: boolean;
  readonly redactor: Redactor;
  readonly chat: ChatService;
  readonly recovery: RecoveryLog;
}

function openNodesets(
  { clock, logger, layout, access, redactor, chat }: Opened,
  settings: () => Settings,
): Promise<NodesetLayer> {
  const { workspace } = access;
  const folders = [workspace.nodesetsFolder, ...settings().nodesetFolders].map((folder) => ({
    folder,
    origin: 'workspace' as const,
  }));
  const cacheFolder = path.join(workspace.cacheFolder, 'nodesets');
  return createNodesetLayer({
    clock,
    logger,
    layout,
    cacheFolder,
    workspaceFolder: workspace.folder,
    folders,
    isTrusted: createNodesetGate(() => trustPlacesOf(access, settings())),
    python: settings().python,
    settings,
    chat,
    redact: redactor.text,
    batchMs: () => settings().deadlines.batchSec * 1000,
  });
}

function openStore({ clock, logger, access, readOnly, recovery }: Opened, bulk: BulkWork): Promise<RunStore> {
  const { runsFolder, trashFolder, indexPath } = access.workspace;
  return openRunStore({
    fileSystem: nodeFileSystem,
    clock,
    logger,
    bulk,
    readOnly,
    runsFolder,
    trashFolder,
    indexPath,
    onIndexDamage: (reason) => recovery.addIndex(reason),
  });
}

function openLibrary({ layout, access }: Opened): GraphLibrary {
  return new GraphLibrary({
    libraryFolder: path.join(layout.resources, 'graphs'),
    workspaceFolder: access.workspace.graphsFolder,
    writeFile: (file, text) => atomicWrite(nodeFileSystem, file, text),
  });
}

type SharedPorts = Pick<
  RunServicePorts,
  'clock' | 'logger' | 'store' | 'registry' | 'guard' | 'graphs' | 'events' | 'settings' | 'sequence'
>;

function createRunService(
  shared: SharedPorts & Pick<RunServicePorts, 'holdQueue'>,
  { access: { workspace }, layout, chat, redactor }: Opened,
  { recordings, bulk }: { readonly recordings: Recordings; readonly bulk: BulkWork },
): RunService {
  return new RunService({
    ...shared,
    queueStorage: createQueueFile(
      nodeFileSystem,
      path.join(workspace.cacheFolder, 'queue.json'),
      shared.logger,
    ),
    machine: {
      cores: os.availableParallelism(),
      memoryBytes: os.totalmem(),
      freeMemoryBytes: () => os.freemem(),
    },
    newRunId: () => createRunId(shared.clock),
    provenance: createRunProvenance({
      folders: { library: path.join(layout.resources, 'models'), workspace: workspace.folder },
      nodesets: () => shared.registry.list(),
      bulk,
    }),
    hooks: createShellHookRunner(),
    recording: recordings.port,
    chat,
    redact: redactor.value,
    missingKeys: async ({ definition }, config) => {
      const nodes = chatNodesOf(definition);
      return nodes.length === 0 ? null : await chat.missingKeys(nodes, config.chat);
    },
    batching: ({ config }) =>
      new BatchedInferenceServer({
        clock: shared.clock,
        batching: config.batching,
        limits: { batchMs: shared.settings().deadlines.batchSec * 1000 },
      }),
  });
}

function openAgentCanvasRuns(
  { clock, logger, access: { workspace } }: Opened,
  { store, graphs }: SharedPorts,
  { bulk, feed }: { readonly bulk: BulkWork; readonly feed: EventFeed },
): AgentCanvasRuns {
  return new AgentCanvasRuns({
    store,
    bulk,
    clock,
    logger,
    runsFolder: workspace.runsFolder,
    workspaceFolder: workspace.folder,
    readableGraph: (text) => readableGraph(graphs, text),
    onRun: (runId) => tellImported({ store, feed }, runId),
  });
}

async function openMedia({ access, readOnly }: Opened): Promise<MediaFiles> {
  const { folder, runsFolder, cacheFolder } = access.workspace;
  const uploadsFolder = path.join(cacheFolder, 'uploads');
  if (!readOnly) await sweepUploads(uploadsFolder);
  return createMediaFiles({
    runsFolder,
    exportsFolder: path.join(folder, 'outputs', 'exports'),
    uploadsFolder,
  });
}

/** In a thread of its own: putting recordings in order must not delay what somebody asks to see. */
function openRecordings(
  { clock, logger, layout, redactor }: Opened,
  feed: EventFeed,
  stack: AsyncDisposableStack,
): Recordings {
  const bulk = stack.use(createBulkThread(layout.bulkWorker, { nice: 15 }));
  const onNotice = (message: string, runId: string): void =>
    feed.publish('notice', { level: 'warning', message, runId });
  const redact = redactor.text;
  return stack.use(createRecordings({ fileSystem: nodeFileSystem, clock, logger, bulk, onNotice, redact }));
}

async function readSettings(
  access: WorkspaceAccess,
  { feed, recovery }: { readonly feed: EventFeed; readonly recovery: RecoveryLog },
): Promise<Settings> {
  const { value, problem } = await access.settings.read();
  if (problem) {
    recovery.addSettings(problem);
    feed.publish('notice', {
      level: 'warning',
      message: `The settings could not be read and the last good ones are used: ${problem}`,
      runId: null,
    });
  }
  return value;
}
