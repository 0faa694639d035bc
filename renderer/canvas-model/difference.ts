// What differs between the saved graph and the one on the canvas, for people: nodes, wires, config, level by level.
import type { GraphDefinition, GraphEdge, GraphNode } from '#contract/graph.ts';
import { levelsOf, nodeName, sourceHandleOf, targetHandleOf, type LevelPath } from './levels.ts';

export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed' | 'moved';
  readonly what: 'node' | 'wire' | 'container' | 'grant' | 'graph';
  readonly path: LevelPath;
  readonly name: string;
  /** The field that changed and its values, or where a wire goes. */
  readonly detail: string;
}

export function differencesOf(saved: GraphDefinition, edited: GraphDefinition): Difference[] {
  if (saved === edited) return [];
  const before = new Map(levelsOf(saved).map(({ path, level }) => [path.join('\n'), level]));
  return levelsOf(edited).flatMap(({ path, level }) => {
    const old = before.get(path.join('\n'));
    return old && old !== level ? levelDifferences(path, old, level) : [];
  });
}

function levelDifferences(path: LevelPath, old: GraphDefinition, level: GraphDefinition): Difference[] {
  const line = (
    kind: Difference['kind'],
    what: Difference['what'],
    name: string,
    detail: string,
  ): Difference => ({ kind, what, path, name, detail });
  const wireName = (graph: GraphDefinition) => (edge: GraphEdge) => describeWire(graph, edge);
  return [
    ...settings(old, level).map((detail) => line('changed', 'graph', level.name || 'graph', detail)),
    ...membership(old.nodes, level.nodes, (node) => ({ name: nodeName(node), detail: node.type })).map(
      ({ kind, name, detail }) => line(kind, 'node', name, detail),
    ),
    ...pairs(old.nodes, level.nodes).flatMap(([one, other]) => nodeChanges(one, other, line)),
    ...membership(old.edges, level.edges, (edge, isOld) => ({
      name: wireName(isOld ? old : level)(edge),
      detail: '',
    })).map(({ kind, name, detail }) => line(kind, 'wire', name, detail)),
    ...pairs(old.edges, level.edges)
      .filter(([one, other]) => describeWire(old, one) !== describeWire(level, other))
      .map(([one, other]) =>
        line('changed', 'wire', describeWire(level, other), `was ${describeWire(old, one)}`),
      ),
    ...membership(old.containers, level.containers, ({ label, id }) => ({
      name: label || id,
      detail: '',
    })).map(({ kind, name, detail }) => line(kind, 'container', name, detail)),
    ...pairs(old.containers, level.containers)
      .filter(([one, other]) => one !== other && text(one) !== text(other))
      .map(([, other]) => line('changed', 'container', other.label || other.id, '')),
    ...membership(old.access_grants, level.access_grants, (grant) => ({
      name: `${grant.node_id} may use ${grant.container_id}`,
      detail: '',
    })).map(({ kind, name, detail }) => line(kind, 'grant', name, detail)),
  ];
}

type Line = (kind: Difference['kind'], what: Difference['what'], name: string, detail: string) => Difference;

function nodeChanges(old: GraphNode, node: GraphNode, line: Line): Difference[] {
  if (old === node) return [];
  const name = nodeName(node);
  const changes: Difference[] = [];
  if (old.label !== node.label) changes.push(line('changed', 'node', name, `label: was “${old.label}”`));
  if (old.type !== node.type) changes.push(line('changed', 'node', name, `type: was ${old.type}`));
  for (const key of new Set([...Object.keys(old.config), ...Object.keys(node.config)])) {
    const before = text(old.config[key]);
    const after = text(node.config[key]);
    if (before !== after) changes.push(line('changed', 'node', name, `${key}: ${before} → ${after}`));
  }
  if (old.position.x !== node.position.x || old.position.y !== node.position.y)
    changes.push(line('moved', 'node', name, ''));
  return changes;
}

function settings(old: GraphDefinition, level: GraphDefinition): string[] {
  return (['name', 'description', 'step_budget', 'eval_graph', 'kind'] as const)
    .filter((key) => text(old[key]) !== text(level[key]))
    .map((key) => `${key}: ${text(old[key])} → ${text(level[key])}`);
}

interface Member {
  readonly id: string;
}

function membership<Item extends Member>(
  old: readonly Item[],
  now: readonly Item[],
  describe: (item: Item, isOld: boolean) => { readonly name: string; readonly detail: string },
): { readonly kind: 'added' | 'removed'; readonly name: string; readonly detail: string }[] {
  const before = new Set(old.map(({ id }) => id));
  const after = new Set(now.map(({ id }) => id));
  return [
    ...now
      .filter(({ id }) => !before.has(id))
      .map((item) => ({ kind: 'added' as const, ...describe(item, false) })),
    ...old
      .filter(({ id }) => !after.has(id))
      .map((item) => ({ kind: 'removed' as const, ...describe(item, true) })),
  ];
}

function pairs<Item extends Member>(old: readonly Item[], now: readonly Item[]): (readonly [Item, Item])[] {
  const before = new Map(old.map((item) => [item.id, item]));
  return now.flatMap((item) => {
    const one = before.get(item.id);
    return one ? [[one, item] as const] : [];
  });
}

function describeWire(level: GraphDefinition, edge: GraphEdge): string {
  const name = (id: string): string => {
    const node = level.nodes.find((candidate) => candidate.id === id);
    return node ? nodeName(node) : id;
  };
  return `${name(edge.source)}.${sourceHandleOf(edge)} → ${name(edge.target)}.${targetHandleOf(edge)}`;
}

function text(value: unknown): string {
  if (value === undefined || value === null) return 'unset';
  const whole = typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
  return whole.length > 80 ? `${whole.slice(0, 79)}…` : whole;
}
