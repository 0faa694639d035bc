// Requests to services, one line each where possible. Shapes are the contract's, decisions the services'.
import type { AgentCanvasRuns } from './agentcanvas-runs.ts';
import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { StudioError } from './base/errors.ts';
import type { Logger } from './base/logger.ts';
import type { Settings } from './contract/settings.ts';
import type { RequestOutput } from './contract/api.ts';
import type { Handlers } from './dispatch.ts';
import { examine } from './doctor.ts';
import type { ExecutionGuard } from './eval/execution-guard.ts';
import type { GraphSource } from './eval/ports.ts';
import type { PlayService } from './eval/play-service.ts';
import type { Recordings } from './eval/recording.ts';
import type { RunService } from './eval/run-service.ts';
import type { EventFeed } from './event-feed.ts';
import { graphListItemOf } from './graph-source.ts';
import type { GraphLibrary } from './graph/library.ts';
import type { EngineLayout } from './layout.ts';
import type { ChatService } from './llm/ports.ts';
import type { MediaFiles } from './media-files.ts';
import { concernsNodesets, createNodesetHandlers } from './nodeset-handlers.ts';
import type { PythonProbe } from './nodeset/environments/python-probe.ts';
import type { NodesetRegistry } from './nodeset/ports.ts';
import { createPlayHandlers, createSaveHandlers } from './play-handlers.ts';
import { createChatHandlers } from './chat-handlers.ts';
import { createCompareHandlers } from './compare-handlers.ts';
import { createRecoveryHandlers } from './recovery-handlers.ts';
import type { RecoveryLog } from './recovery-log.ts';
import { createReplayHandlers } from './replay-handlers.ts';
import { createRunHandlers } from './run-handlers.ts';
import type { BulkWork } from './store/bulk-work.ts';
import type { RunStore } from './store/ports.ts';
import { createTrustHandlers } from './trust-handlers.ts';
import { createTransferHandlers } from './transfer-handlers.ts';
import { appVersion } from './version.ts';
import type { WorkspaceAccess } from './workspace-access.ts';

export type HostKind = 'electron' | 'web' | 'cli';

export interface HandlerServices {
  readonly host: HostKind;
  readonly layout: EngineLayout;
  readonly access: WorkspaceAccess;
  readonly logger: Logger;
  readonly readOnly: boolean;
  readonly store: RunStore;
  readonly registry: NodesetRegistry;
  readonly guard: ExecutionGuard;
  readonly graphs: GraphSource;
  readonly library: GraphLibrary;
  readonly runs: RunService;
  readonly play: PlayService;
  readonly media: MediaFiles;
  readonly recordings: Pick<Recordings, 'frame' | 'inOrder' | 'runInOrder'>;
  /** Long work over run folders, in a thread of its own. */
  readonly bulk: Pick<BulkWork, 'run'>;
  /** Null when nothing may be written. */
  readonly agentCanvasRuns: AgentCanvasRuns | null;
  readonly feed: EventFeed;
  readonly openFolder: ((folder: string) => Promise<void>) | undefined;
  readonly settings: () => Settings;
  readonly replaceSettings: (settings: Settings) => Promise<void>;
  readonly recovery: RecoveryLog;
  readonly pythonProbe: PythonProbe;
  readonly chat: ChatService;
  /** Keys of model providers are encrypted by the host. */
  readonly hasKeyStore: boolean;
}

type GraphRequests = Exclude<Extract<keyof Handlers, `graphs.${string}`>, `graphs.save${'Edited' | 'Copy'}`>;

export function createHandlers(services: HandlerServices): Handlers {
  const { access, guard, settings } = services;
  const writable = (): void => {
    if (services.readOnly)
      throw new StudioError('read_only', 'This workspace is open read-only: another process owns it.');
  };
  return {
    'app.info': async () => appInfo(services),
    'guard.get': async () => ({ holder: guard.holder }),
    ...graphHandlers(services, writable),
    ...createNodesetHandlers(services, writable),
    ...createRunHandlers(services, writable),
    ...createCompareHandlers(services, writable),
    ...createReplayHandlers(services),
    ...createTransferHandlers(services, writable),
    ...createPlayHandlers(services),
    ...createSaveHandlers(services, writable),
    ...createChatHandlers(services.chat, writable),
    ...createRecoveryHandlers(services),
    'settings.get': async () => ({ settings: settings(), path: access.workspace.settingsPath }),
    'settings.set': async ({ settings: next }) => {
      writable();
      const mustScan = concernsNodesets(settings(), next);
      await services.replaceSettings(next);
      if (mustScan) await services.registry.scan();
      return {};
    },
    ...createTrustHandlers(services),
    'doctor.run': async () =>
      examine({
        registry: services.registry,
        workspaceFolder: access.workspace.folder,
        freeBytes: () => services.store.freeBytes(),
        pauseBelowBytes: settings().processLimits.pauseBelowFreeMb * 1e6,
        python: settings().python,
        probe: services.pythonProbe,
      }),
    'shell.openFolder': async ({ runId }) => {
      if (!services.openFolder)
        throw new StudioError(
          'unsupported',
          `This host cannot open folders. The run is at ${services.store.folderOf(runId)}`,
        );
      await services.openFolder(services.store.folderOf(runId));
      return {};
    },
  };
}

function appInfo(services: HandlerServices): RequestOutput<'app.info'> {
  const { host, layout, access, readOnly, openFolder, hasKeyStore } = services;
  return {
    version: appVersion,
    workspace: access.workspace.folder,
    library: layout.resources,
    readOnly,
    host,
    platform: process.platform,
    capabilities: [
      ...(openFolder ? ['openFolder'] : []),
      ...(hasKeyStore ? ['keyStore'] : []),
      ...(host === 'electron' ? ['notices'] : []),
    ],
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    docsUrl: existsSync(path.join(layout.renderer, '../docs/index.html')) ? '/docs/' : null,
  };
}

function graphHandlers(
  { graphs, library, runs, feed }: HandlerServices,
  writable: () => void,
): Pick<Handlers, GraphRequests> {
  return {
    'graphs.list': async () => ({ graphs: (await library.list()).map(graphListItemOf) }),
    'graphs.read': async ({ ref }) => {
      const { item, text, definition } = await graphs.load(ref);
      return { item, text, definition, diagnostics: [...graphs.validate(definition)] };
    },
    'graphs.validate': async ({ ref, text }) => {
      if ((ref === undefined) === (text === undefined))
        throw new StudioError('invalid_input', 'Give either ref or text.');
      const definition = text === undefined ? (await graphs.load(ref ?? '')).definition : graphs.parse(text);
      return { diagnostics: [...graphs.validate(definition)] };
    },
    'graphs.introspect': async ({ ref, load }, signal) => runs.introspect(ref, { load, signal }),
    'graphs.save': async ({ ref, text }) => {
      writable();
      const definition = graphs.parse(text);
      const file = await library.save(ref, text);
      feed.publish('graphs.changed', {});
      return { ref: file.ref, diagnostics: [...graphs.validate(definition)] };
    },
    'graphs.import': async ({ name, text }) => {
      writable();
      const file = await library.add(name, text);
      feed.publish('graphs.changed', {});
      return { ref: file.ref };
    },
  };
}
