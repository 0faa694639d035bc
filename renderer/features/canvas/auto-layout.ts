// Runs the layout engine in a worker of its own, loaded when a graph is first laid out.
import type { ELK } from 'elkjs/lib/elk-api.js';
import type { GraphDefinition } from '#contract/graph.ts';
import type { Handles } from '../../canvas-model/handles.ts';
import { laidOut, layoutInput, type Size } from '../../canvas-model/layout.ts';
import type { Position } from '../../canvas-model/node-commands.ts';

let engine: Promise<ELK> | null = null;

async function openEngine(): Promise<ELK> {
  const { default: Elk } = await import('elkjs/lib/elk-api.js');
  return new Elk({
    workerFactory: () => new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' }),
  });
}

export async function autoLayout(
  level: GraphDefinition,
  handles: ReadonlyMap<string, Handles>,
  sizes: ReadonlyMap<string, Size>,
): Promise<ReadonlyMap<string, Position>> {
  engine ??= openEngine();
  const elk = await engine;
  const input = layoutInput(level, handles, sizes);
  const { children = [] } = await elk.layout({
    ...input,
    layoutOptions: { ...input.layoutOptions },
    children: input.children.map((child) => ({
      ...child,
      layoutOptions: { ...child.layoutOptions },
      ports: child.ports.map((port) => ({ ...port, layoutOptions: { ...port.layoutOptions } })),
    })),
    edges: input.edges.map((edge) => ({ ...edge, sources: [...edge.sources], targets: [...edge.targets] })),
  });
  return laidOut(level, children);
}
