// What the canvas knows of Play: the engine's view and what each node did, brought up to date by events. Node objects
// keep their identity while they do not change, so that only nodes that fired are drawn again.
import type { EventPayload, RequestOutput } from '#contract/api.ts';
import type { PlayedNode, PlayView } from '#contract/play.ts';
import type { GraphDefinition, GraphEdge } from '#contract/graph.ts';
import { flatId, sourceHandleOf, type LevelPath } from './levels.ts';

export interface PlayState {
  readonly view: PlayView | null;
  readonly nodes: ReadonlyMap<string, PlayedNode>;
  /** Viewers that have something new, by how often. */
  readonly viewerRounds: number;
}

export const noPlay: PlayState = { view: null, nodes: new Map(), viewerRounds: 0 };

export function withSnapshot(state: PlayState, { view, nodes }: RequestOutput<'play.state'>): PlayState {
  return {
    view,
    nodes: new Map(nodes.map((node) => [node.nodeId, node])),
    viewerRounds: state.viewerRounds + 1,
  };
}

/** A view that is older than the known one changes nothing: replies and events come by different ways. */
export function withView(state: PlayState, view: PlayView): PlayState {
  if (state.view && view.revision < state.view.revision) return state;
  const isAnother = state.view?.executionId !== view.executionId;
  return isAnother ? { view, nodes: new Map(), viewerRounds: state.viewerRounds + 1 } : { ...state, view };
}

export function withFirings(state: PlayState, event: EventPayload<'play.firing'>): PlayState {
  const isAnother = state.view?.executionId !== event.executionId;
  const nodes = new Map(isAnother ? [] : state.nodes);
  for (const node of event.nodes) nodes.set(node.nodeId, node);
  return { ...state, nodes, viewerRounds: state.viewerRounds + (event.viewers.length > 0 ? 1 : 0) };
}

/** What stands for a node of a level: itself, or for a composite all that is inside. */
export function playedAt(
  nodes: ReadonlyMap<string, PlayedNode>,
  path: LevelPath,
  node: { readonly id: string; readonly isComposite: boolean },
): PlayedNode | undefined {
  const id = flatId(path, node.id);
  if (!node.isComposite) return nodes.get(id);
  const inside = [...nodes.values()].filter(({ nodeId }) => nodeId.startsWith(`${id}__`));
  if (inside.length === 0) return undefined;
  const failed = inside.find(({ error }) => error !== null);
  return {
    nodeId: id,
    path: id,
    isFiring: inside.some(({ isFiring }) => isFiring),
    firings: inside.reduce((sum, { firings }) => sum + firings, 0),
    step: Math.max(...inside.map(({ step }) => step)),
    lastMs: null,
    totalMs: inside.reduce((sum, { totalMs }) => sum + totalMs, 0),
    error: failed ? `${failed.path}: ${failed.error}` : null,
    hasLog: inside.some(({ hasLog }) => hasLog),
  };
}

/** The flat node and handle whose value a wire of a level carries; null when a border leads nowhere. */
export function sourceOf(
  root: GraphDefinition,
  path: LevelPath,
  edge: Pick<GraphEdge, 'source' | 'sourceHandle'>,
): { readonly nodeId: string; readonly handle: string } | null {
  const level = path.reduce<GraphDefinition | undefined>(
    (outer, id) => outer?.nodes.find((node) => node.id === id)?.subgraph ?? undefined,
    root,
  );
  const node = level?.nodes.find(({ id }) => id === edge.source);
  if (!level || !node) return null;
  const handle = sourceHandleOf(edge);
  if (node.subgraph) return leaving(root, [...path, node.id], node.subgraph, handle);
  if (node.type === 'graphIn' && path.length > 0 && !hasLoop(level))
    return entering(root, path, node.config.portName);
  return { nodeId: flatId(path, node.id), handle };
}

const hasLoop = (level: GraphDefinition): boolean => level.nodes.some(({ type }) => type === 'iterIn');

function leaving(
  root: GraphDefinition,
  path: LevelPath,
  inner: GraphDefinition,
  port: string,
): { readonly nodeId: string; readonly handle: string } | null {
  const exit = inner.nodes.find(
    (node) => node.type === 'graphOut' && (node.config.portName ?? 'output') === port,
  );
  if (!exit) return null;
  if (hasLoop(inner)) return { nodeId: flatId(path, exit.id), handle: 'value' };
  const into = inner.edges.findLast(({ target }) => target === exit.id);
  return into ? sourceOf(root, path, into) : null;
}

function entering(
  root: GraphDefinition,
  path: LevelPath,
  port: unknown,
): { readonly nodeId: string; readonly handle: string } | null {
  const outerPath = path.slice(0, -1);
  const outer = outerPath.reduce<GraphDefinition | undefined>(
    (level, id) => level?.nodes.find((node) => node.id === id)?.subgraph ?? undefined,
    root,
  );
  const into = outer?.edges.findLast(
    (edge) => edge.target === path.at(-1) && (edge.targetHandle || 'input') === (port ?? 'input'),
  );
  return into ? sourceOf(root, outerPath, into) : null;
}
