// A registry over real processes, with a cache and a workspace of its own, for tests.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/logger.ts';
import type { NodeManifest } from '../../contract/nodeset.ts';
import type { ManifestSource, NodeCatalog } from '../../graph/ports.ts';
import { createProcessRegistry } from '../../process/process-registry.ts';
import type { ProcessRegistry, StartHostOptions } from '../../process/ports.ts';
import { createInterpreterResolver } from '../interpreter-resolver.ts';
import { createNodeLauncher } from '../hosts/node-launcher.ts';
import { createPythonLauncher } from '../hosts/python-launcher.ts';
import type { NodesetRegistry } from '../ports.ts';
import { createNodesetRegistry, type NodesetRegistryOptions } from '../registry.ts';
import { createLocalProcessSpawner } from '../spawners/local-process.ts';

export interface TestRegistry extends AsyncDisposable {
  readonly registry: NodesetRegistry;
  readonly processes: ProcessRegistry;
  /** The workspace's nodesets folder. */
  readonly folder: string;
  /** Labels of the host processes started so far. */
  readonly started: string[];
  /** Another one over the same folders and cache. */
  again(options?: Partial<NodesetRegistryOptions>): NodesetRegistry;
}

const testNodesets = fileURLToPath(new URL('./nodesets', import.meta.url));
export const pythonFolder = fileURLToPath(new URL('../../../resources/python', import.meta.url));

/** The real program, or nothing: launchers of version managers cost a shell per start. */
export function pythonInterpreter(): string {
  try {
    return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** Copies the named test nodesets into a new workspace. */
export async function createTestRegistry(
  names: readonly string[],
  { interpreter, ...options }: Partial<NodesetRegistryOptions> & { readonly interpreter?: string } = {},
): Promise<TestRegistry> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'nodesets ☂-'));
  const folder = path.join(root, 'nodesets');
  await mkdir(folder);
  for (const name of names)
    await cp(path.join(testNodesets, name), path.join(folder, name), { recursive: true });
  const processes = await createProcessRegistry({ clock: systemClock });
  const started: string[] = [];
  const startHost = (start: StartHostOptions): ReturnType<ProcessRegistry['startHost']> => {
    started.push(start.label);
    return processes.startHost(start);
  };
  const python = createPythonLauncher({
    pythonFolder,
    resolveInterpreter: createInterpreterResolver({ defaultInterpreter: interpreter }),
  });
  const again = (more: Partial<NodesetRegistryOptions> = {}): NodesetRegistry =>
    createNodesetRegistry({
      folders: [{ folder, origin: 'workspace' }],
      cacheFolder: path.join(root, 'cache'),
      builtins: noBuiltins,
      isTrusted: () => true,
      logger: silentLogger,
      runtime: {
        clock: systemClock,
        spawner: createLocalProcessSpawner({ startHost }),
        launchers: {
          typescript: createNodeLauncher({ compileCacheFolder: path.join(root, 'cache', 'code') }),
          python,
        },
      },
      ...options,
      ...more,
    });
  const registry = again();
  return {
    registry,
    processes,
    folder,
    started,
    again,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      await processes[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

const note: NodeManifest = {
  nodeType: 'note',
  displayName: 'Note',
  description: '',
  category: '',
  icon: '',
  kind: '',
  inputPorts: [],
  outputPorts: [],
  configSchema: {},
  defaultConfig: {},
  uiConfig: { configFields: [], displayFields: [] },
  batched: false,
};

/** One built-in, enough to see that catalogs fall back to them. */
const noBuiltins: NodeCatalog & ManifestSource = {
  lookup: (nodeType) =>
    nodeType === 'note' ? { manifest: note, bind: () => ({ forward: () => ({}) }) } : undefined,
  manifestOf: (nodeType) => (nodeType === 'note' ? note : undefined),
};
