// The run service over everything real: processes, nodesets, graphs, run folders. Several can be opened on one
// workspace one after the other, as after a restart.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, freemem, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import { silentLogger } from '../../base/logger.ts';
import type { EventMap, EventName } from '../../contract/api.ts';
import { evalConfig, type EvalConfigInput } from '../../contract/eval-config.ts';
import { graphDefinition } from '../../contract/graph.ts';
import type { EpisodeAttempt, RunRecord } from '../../contract/run.ts';
import { settings } from '../../contract/settings.ts';
import { builtinManifestSource, createBuiltinCatalog } from '../../graph/builtin/catalog.ts';
import { validateGraph } from '../../graph/validate/validate.ts';
import { createNodeLauncher } from '../../nodeset/hosts/node-launcher.ts';
import { createPythonLauncher } from '../../nodeset/hosts/python-launcher.ts';
import { createInterpreterResolver } from '../../nodeset/interpreter-resolver.ts';
import { engineNodes } from '../../inference/onnx/policy-node.ts';
import type { EngineNodes, NodesetRegistry } from '../../nodeset/ports.ts';
import { createNodesetRegistry } from '../../nodeset/registry.ts';
import { createLocalProcessSpawner } from '../../nodeset/spawners/local-process.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import { createProcessRegistry } from '../../process/process-registry.ts';
import { nodeFileSystem } from '../../store/node-file-system.ts';
import type { RunStore } from '../../store/ports.ts';
import { createRunId } from '../../store/run-id.ts';
import { openRunStore } from '../../store/run-store.ts';
import { createExecutionGuard, type ExecutionGuard } from '../execution-guard.ts';
import type { GraphSource } from '../ports.ts';
import { createQueueFile } from '../queue-file.ts';
import { RunService } from '../run-service.ts';
import type { RunServicePorts } from '../run-service-ports.ts';

const library = fileURLToPath(new URL('../../../resources', import.meta.url));
const own = fileURLToPath(new URL('.', import.meta.url));

export type TimedEvent = {
  readonly [Name in EventName]: { readonly name: Name; readonly payload: EventMap[Name] };
}[EventName];

export interface LiveBench extends AsyncDisposable {
  readonly service: RunService;
  readonly store: RunStore;
  readonly guard: ExecutionGuard;
  readonly processes: ProcessRegistry;
  readonly registry: NodesetRegistry;
  readonly events: readonly TimedEvent[];
  /** Starts a run and resolves with its record once it has ended. */
  evaluate(config: EvalConfigInput): Promise<RunRecord>;
  attempts(runId: string): Promise<EpisodeAttempt[]>;
  /** What must be equal however a run was carried out: by ordinal, without times and places. */
  results(runId: string): Promise<unknown[]>;
  /** Resolves when the event comes, or came already. */
  seen<Name extends EventName>(
    name: Name,
    isIt: (payload: EventMap[Name]) => boolean,
  ): Promise<EventMap[Name]>;
}

export async function makeWorkspace(): Promise<string> {
  return await mkdtemp(path.join(tmpdir(), 'evaluation ☂-'));
}

export interface BenchOptions extends Partial<RunServicePorts> {
  /** Compiled nodesets and their manifests; several benches may share it. Default: in the workspace. */
  readonly cacheFolder?: string;
  /** Without it only `fragile` is known, and nothing else is compiled. */
  readonly withLibrary?: boolean;
  /** Node types beside the built-ins, from the processes the bench starts. */
  readonly engineNodes?: (processes: ProcessRegistry) => EngineNodes;
  /** Further folders of nodesets. */
  readonly nodesetFolders?: readonly string[];
}

export async function removeWorkspace(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

export async function openLiveBench(folder: string, options: BenchOptions = {}): Promise<LiveBench> {
  const { cacheFolder = path.join(folder, 'cache'), withLibrary = true, ...rest } = options;
  const { nodesetFolders = [], engineNodes: createEngineNodes, ...more } = rest;
  const processes = await createProcessRegistry({ clock: systemClock });
  const builtins: EngineNodes = { ...createBuiltinCatalog(), ...builtinManifestSource };
  const registry = createNodesetRegistry({
    folders: [
      ...(withLibrary ? [{ folder: path.join(library, 'nodesets'), origin: 'library' } as const] : []),
      ...[path.join(own, 'nodesets'), ...nodesetFolders].map(
        (each) => ({ folder: each, origin: 'workspace' }) as const,
      ),
    ],
    cacheFolder,
    builtins: createEngineNodes ? engineNodes(builtins, createEngineNodes(processes)) : builtins,
    isTrusted: () => true,
    logger: silentLogger,
    runtime: {
      clock: systemClock,
      spawner: createLocalProcessSpawner({ startHost: (start) => processes.startHost(start) }),
      launchers: {
        typescript: createNodeLauncher(),
        python: createPythonLauncher({
          pythonFolder: path.join(library, 'python'),
          resolveInterpreter: createInterpreterResolver(),
        }),
      },
    },
  });
  await registry.scan();
  const store = await openRunStore({
    fileSystem: nodeFileSystem,
    clock: systemClock,
    runsFolder: path.join(folder, 'runs'),
    trashFolder: path.join(folder, 'trash'),
    indexPath: path.join(folder, 'index.sqlite'),
  });
  const guard = createExecutionGuard(systemClock);
  const events: TimedEvent[] = [];
  const waiting = new Set<() => void>();
  const service = new RunService({
    clock: systemClock,
    logger: silentLogger,
    store,
    registry,
    guard,
    graphs: testGraphs(registry),
    events: {
      publish: (name, payload) => {
        events.push({ name, payload } as TimedEvent);
        for (const look of waiting) look();
      },
    },
    queueStorage: createQueueFile(nodeFileSystem, path.join(folder, 'queue.json'), silentLogger),
    machine: { cores: cpus().length, memoryBytes: totalmem(), freeMemoryBytes: freemem },
    settings: () => settings.parse({}),
    newRunId: () => createRunId(systemClock),
    sequence: () => events.length,
    provenance: ({ graphHash, nodesets }) => Promise.resolve({ ...nowhere, graphHash, nodesets }),
    ...more,
  });
  const attempts = async (runId: string): Promise<EpisodeAttempt[]> => {
    const rows: EpisodeAttempt[] = [];
    for await (const row of store.readAttempts(runId)) rows.push(row);
    return rows;
  };
  const bench: LiveBench = {
    service,
    store,
    guard,
    processes,
    registry,
    events,
    attempts,
    async evaluate(config) {
      const { runId } = await service.start({ config: evalConfig.parse(config), whenBusy: 'refuse' });
      await service.whenEnded(runId);
      return await store.readRecord(runId);
    },
    async results(runId) {
      const finals = (await attempts(runId)).filter((row) => row.final).sort((a, b) => a.ordinal - b.ordinal);
      return finals.map(
        ({ ordinal, key, seed, status, metrics, steps, limit, episodeId, sceneId, instruction }) => ({
          ordinal,
          key,
          seed,
          status,
          metrics,
          steps,
          limit,
          episodeId,
          sceneId,
          instruction,
        }),
      );
    },
    seen(name, isIt) {
      return new Promise((resolve) => {
        let from = 0;
        const look = (): void => {
          for (; from < events.length; from++) {
            const event = events[from];
            if (event?.name !== name || !isIt(event.payload as EventMap[typeof name])) continue;
            waiting.delete(look);
            resolve(event.payload as EventMap[typeof name]);
            return;
          }
        };
        waiting.add(look);
        look();
      });
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
      await processes[Symbol.asyncDispose]();
    },
  };
  return bench;
}

const nowhere = {
  appVersion: 'test',
  gitCommit: null,
  interpreters: [],
  models: [],
  host: 'here',
  os: 'test',
  cpu: 'test',
  cores: 1,
  memoryBytes: 1,
  gpu: null,
};

/** `fragile` and the graphs that ship, by name. */
function testGraphs(registry: NodesetRegistry): GraphSource {
  const folders = [path.join(own, 'graphs'), path.join(library, 'graphs')];
  const parse: GraphSource['parse'] = (text) => graphDefinition.parse(JSON.parse(text));
  const read = async (ref: string): Promise<{ file: string; text: string }> => {
    for (const folder of folders) {
      const file = path.join(folder, `${ref}.json`);
      const text = await readFile(file, 'utf8').catch(() => undefined);
      if (text !== undefined) return { file, text };
    }
    throw new StudioError('not_found', `there is no graph "${ref}"`);
  };
  return {
    parse,
    validate: (definition) => validateGraph(definition, registry.manifests),
    async load(ref) {
      const { file, text } = await read(ref);
      const definition = parse(text);
      const item = {
        name: ref,
        ref: file,
        origin: 'file',
        description: '',
        nodesets: [],
        evalGraph: true,
        modifiedAt: '',
      } as const;
      return { item: { ...item, nodesets: [] }, text, definition };
    },
  };
}
