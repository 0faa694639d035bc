// Model files made for one test, and the node type over them with its real processes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../base/clock.ts';
import type { FiringContext } from '../../graph/ports.ts';
import { createProcessRegistry } from '../../process/process-registry.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import type { ModelHostPorts } from '../onnx/model-host.ts';
import { PolicyNodes } from '../onnx/policy-node.ts';

export const modelHostProgram = fileURLToPath(new URL('../model-host-main.ts', import.meta.url));

export interface ModelFolder extends AsyncDisposable {
  readonly folder: string;
  readonly processes: ProcessRegistry;
  readonly nodes: PolicyNodes;
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Other processes over the same files; disposed with the folder. */
  again(more?: Partial<ModelHostPorts>): PolicyNodes;
}

export async function createModelFolder(): Promise<ModelFolder> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'models ☂-'));
  const processes = await createProcessRegistry({ clock: systemClock });
  const all: PolicyNodes[] = [];
  const again = (more: Partial<ModelHostPorts> = {}): PolicyNodes => {
    const nodes = new PolicyNodes({
      models: { library: path.join(folder, 'library'), workspace: folder },
      host: {
        clock: systemClock,
        program: modelHostProgram,
        startHost: (start) => processes.startHost(start),
        ...more,
      },
      cores: 1,
    });
    all.push(nodes);
    return nodes;
  };
  return {
    folder,
    processes,
    nodes: again(),
    again,
    write: (name, bytes) => writeFile(path.join(folder, name), bytes),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((nodes) => nodes[Symbol.asyncDispose]()));
      await processes[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A firing of one execution; `step` may be changed between firings. */
export function firing(
  executionId: string,
  more: Partial<FiringContext> = {},
): FiringContext & { step: number } {
  return {
    executionId,
    nodeId: 'policy',
    step: 0,
    seed: 7,
    signal: new AbortController().signal,
    state: new Map(),
    containers: { granted: [], read: () => undefined, write: () => undefined, evict: () => undefined },
    log: () => undefined,
    emitSignal: () => undefined,
    ...more,
  };
}
