// Processes and nodesets put together: one registry of children, the spawner, a launcher per language, the registry of
// nodesets over library and workspace.
import path from 'node:path';
import type { Clock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import { builtinManifestSource, createBuiltinCatalog } from './graph/builtin/catalog.ts';
import type { EngineLayout } from './layout.ts';
import { createNodeLauncher } from './nodeset/hosts/node-launcher.ts';
import { createPythonFinder } from './nodeset/hosts/python-finder.ts';
import { createPythonLauncher } from './nodeset/hosts/python-launcher.ts';
import { createInterpreterResolver } from './nodeset/interpreter-resolver.ts';
import type { NodesetRegistry } from './nodeset/ports.ts';
import { createNodesetRegistry } from './nodeset/registry.ts';
import type { NodesetFolder } from './nodeset/scan.ts';
import { createLocalProcessSpawner } from './nodeset/spawners/local-process.ts';
import type { ProcessRegistry } from './process/ports.ts';
import { createProcessRegistry } from './process/process-registry.ts';

export interface NodesetLayerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly layout: EngineLayout;
  readonly cacheFolder: string;
  /** Beside the library, later ones win. */
  readonly folders: readonly NodesetFolder[];
  readonly isTrusted: (path: string) => Promise<boolean>;
  /** Interpreter of Python nodesets that name none; empty = python3 on PATH. */
  readonly python: string;
}

export interface NodesetLayer extends AsyncDisposable {
  readonly registry: NodesetRegistry;
  readonly processes: ProcessRegistry;
}

export async function createNodesetLayer(options: NodesetLayerOptions): Promise<NodesetLayer> {
  const { clock, logger, layout, cacheFolder, folders, isTrusted, python } = options;
  const processes = await createProcessRegistry({ clock, reaperEntry: layout.reaper });
  const pythonFolder = path.join(layout.resources, 'python');
  const resolveInterpreter = createInterpreterResolver(python === '' ? {} : { defaultInterpreter: python });
  const interpreter = (): Promise<string> =>
    resolveInterpreter({ wanted: undefined, baseFolder: pythonFolder });
  const registry = createNodesetRegistry({
    folders: [{ folder: path.join(layout.resources, 'nodesets'), origin: 'library' }, ...folders],
    cacheFolder,
    builtins: { ...createBuiltinCatalog(), ...builtinManifestSource },
    isTrusted,
    authorModule: layout.authorModule,
    logger,
    findPython: createPythonFinder({ processes, clock, interpreter, pythonFolder }),
    runtime: {
      clock,
      spawner: createLocalProcessSpawner(processes),
      launchers: {
        typescript: createNodeLauncher({
          hostProgram: layout.nodeHost,
          compileCacheFolder: path.join(cacheFolder, 'code'),
        }),
        python: createPythonLauncher({ pythonFolder, resolveInterpreter }),
      },
    },
  });
  return {
    registry,
    processes,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      await processes[Symbol.asyncDispose]();
    },
  };
}
