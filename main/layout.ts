// Where the engine's own programs and the shipped library are: beside the sources in a checkout, beside the bundle in
// an installation. The only place that knows both.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface EngineLayout {
  /** Shipped graphs, nodesets, models, Python host. */
  readonly resources: string;
  readonly nodeHost: string;
  /** Runs one ONNX model. */
  readonly modelHost: string;
  readonly reaper: string;
  /** Entry of the worker thread for bulk work. */
  readonly bulkWorker: URL;
  /** What `import … from 'agentcanvas'` in a nodeset resolves to. */
  readonly authorModule: string;
  /** The built interface; missing in a checkout that never built it. */
  readonly renderer: string;
}

/** `from` is import.meta.url of a module in main/ (checkout) or of a chunk in the bundle's folder. */
export function engineLayout(from: string = import.meta.url): EngineLayout {
  const here = path.dirname(fileURLToPath(from));
  if (from.endsWith('.ts')) {
    const root = path.dirname(here);
    return {
      resources: path.join(root, 'resources'),
      nodeHost: path.join(here, 'nodeset/hosts/node-host.ts'),
      modelHost: path.join(here, 'inference/model-host-main.ts'),
      reaper: path.join(here, 'process/reaper-main.ts'),
      bulkWorker: new URL('./store/bulk-worker.ts', from),
      authorModule: path.join(here, 'nodeset/author/agentcanvas.ts'),
      renderer: path.join(root, 'dist/renderer'),
    };
  }
  return {
    resources: firstExisting(path.join(here, '../resources'), path.join(here, '../../resources')),
    nodeHost: path.join(here, 'node-host.mjs'),
    modelHost: path.join(here, 'model-host.mjs'),
    reaper: path.join(here, 'reaper-main.mjs'),
    bulkWorker: new URL('./bulk-worker.mjs', from),
    authorModule: path.join(here, 'agentcanvas.mjs'),
    renderer: path.join(here, '../renderer'),
  };
}

function firstExisting(...candidates: readonly [string, ...string[]]): string {
  return candidates.find((candidate) => existsSync(candidate)) ?? candidates[0];
}
