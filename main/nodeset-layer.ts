// Processes and nodesets put together: one registry of children, the spawner, a launcher per language, the engine's own
// node types, the registry of nodesets over library and workspace.
import os from 'node:os';
import path from 'node:path';
import type { Clock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import { settings as settingsSchema, type Settings } from './contract/settings.ts';
import { builtinManifestSource, createBuiltinCatalog } from './graph/builtin/catalog.ts';
import type { ManifestSource, NodeCatalog } from './graph/ports.ts';
import type { ChatService } from './llm/ports.ts';
import { PolicyNodes, engineNodes } from './inference/onnx/policy-node.ts';
import type { EngineLayout } from './layout.ts';
import { createNodeLauncher } from './nodeset/hosts/node-launcher.ts';
import type { PythonProbe } from './nodeset/environments/python-probe.ts';
import type { NodesetRegistry } from './nodeset/ports.ts';
import { createPythonLayer } from './nodeset/python-layer.ts';
import { createNodesetRegistry } from './nodeset/registry.ts';
import { sweepSharedFolders } from './nodeset/shared-folders.ts';
import type { NodesetFolder } from './nodeset/scan.ts';
import { createAllPlaces } from './nodeset/spawners/all-places.ts';
import { createPlaceChecker } from './nodeset/spawners/check-place.ts';
import { choosePlace } from './nodeset/spawners/choose-place.ts';
import { guardedLauncher, type TrustPort } from './nodeset/trust.ts';
import type { ProcessRegistry } from './process/ports.ts';
import { createProcessRegistry } from './process/process-registry.ts';
import { userFolder } from './store/workspace.ts';

export interface NodesetLayerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly layout: EngineLayout;
  readonly cacheFolder: string;
  /** Relative paths of models start here. */
  readonly workspaceFolder: string;
  /** Beside the library, later ones win. */
  readonly folders: readonly NodesetFolder[];
  readonly isTrusted: TrustPort;
  /** Interpreter of Python nodesets that name none; empty = python3 on PATH. */
  readonly python: string;
  /** As they are now; without it `python` holds and nothing else is set. */
  readonly settings?: () => Pick<
    Settings,
    'python' | 'interpreters' | 'attachments' | 'deadlines' | 'spawners'
  >;
  /** Answers chat nodes and Python's `app.llm`; without it they fail with a message that says so. */
  readonly chat?: ChatService | undefined;
  /** Takes secrets out of what children print. */
  readonly redact?: ((text: string) => string) | undefined;
  /** The deadline of a model's batch, as it is now. */
  readonly batchMs?: () => number;
}

const defaultSettings = settingsSchema.parse({});

export interface NodesetLayer extends AsyncDisposable {
  readonly registry: NodesetRegistry;
  readonly processes: ProcessRegistry;
  readonly probe: PythonProbe;
}

export async function createNodesetLayer(options: NodesetLayerOptions): Promise<NodesetLayer> {
  const { clock, logger, layout, cacheFolder, folders, isTrusted, chat, redact } = options;
  const processes = await createProcessRegistry({ clock, reaperEntry: layout.reaper, redact });
  await sweepSharedFolders();
  const pythonFolder = path.join(layout.resources, 'python');
  const settings = options.settings ?? (() => ({ ...defaultSettings, python: options.python }));
  const shared = { clock, processes, pythonFolder };
  const python = createPythonLayer({
    ...shared,
    settings,
    environmentsFolder: path.join(userFolder(process.env, process.platform), 'environments'),
  });
  const spawner = createAllPlaces({
    ...shared,
    logger,
    redact,
    recordsFolder: path.join(cacheFolder, 'containers'),
    settings: () => settings().spawners,
    resolveInterpreter: python.resolve,
  });
  const policies = createPolicyNodes(options, processes);
  const compileCacheFolder = path.join(cacheFolder, 'code');
  const registry = createNodesetRegistry({
    folders: [{ folder: path.join(layout.resources, 'nodesets'), origin: 'library' }, ...folders],
    cacheFolder,
    builtins: engineNodes(builtinNodes(chat), policies),
    isTrusted,
    authorModule: layout.authorModule,
    logger,
    findPython: python.find,
    interpreters: python.choice,
    environments: python.environments,
    attachments: () => settings().attachments,
    checkPlace: createPlaceChecker({
      settings: () => settings().spawners,
      probe: python.probe,
      resolveInterpreter: python.resolve,
    }),
    runtime: {
      clock,
      deadlines: () => settings().deadlines,
      ...(chat && { engineMethods: { 'llm.chat': chat.answerHost.bind(chat) } }),
      spawner,
      placeOf: (source, forRun) => choosePlace(source, settings().spawners, forRun),
      launchers: {
        typescript: createNodeLauncher({ hostProgram: layout.nodeHost, compileCacheFolder }),
        // TypeScript runs as the bundle that was made when it was asked; Python reads its files at each start.
        python: guardedLauncher(python.launcher, isTrusted),
      },
    },
  });
  return {
    registry,
    processes,
    probe: python.probe,
    [Symbol.asyncDispose]: () => disposeInTurn([registry, policies, python.environments, spawner, processes]),
  };
}

function createPolicyNodes(
  { clock, layout, workspaceFolder, batchMs }: NodesetLayerOptions,
  processes: ProcessRegistry,
): PolicyNodes {
  return new PolicyNodes({
    models: { library: path.join(layout.resources, 'models'), workspace: workspaceFolder },
    host: { clock, program: layout.modelHost, startHost: (start) => processes.startHost(start) },
    cores: os.availableParallelism(),
    ...(batchMs && { batchMs }),
  });
}

function builtinNodes(chat: ChatService | undefined): NodeCatalog & ManifestSource {
  return { ...createBuiltinCatalog(chat ? { chat } : {}), ...builtinManifestSource };
}

async function disposeInTurn(parts: readonly Partial<AsyncDisposable>[]): Promise<void> {
  for (const part of parts) await part[Symbol.asyncDispose]?.();
}
