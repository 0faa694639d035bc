// A graph as boxes and curves in the places the author gave them. Pure.
import type { GraphDefinition } from '#contract/graph.ts';

export const nodeWidth = 180;
export const nodeHeight = 48;
const longestLabel = 19;
const margin = 24;

export interface GraphPicture {
  readonly viewBox: string;
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly {
    readonly id: string;
    readonly label: string;
    readonly x: number;
    readonly y: number;
  }[];
  readonly edges: readonly { readonly id: string; readonly path: string }[];
}

export function graphPicture(graph: Pick<GraphDefinition, 'nodes' | 'edges'>): GraphPicture {
  const nodes = graph.nodes.map(({ id, label, position }) => ({
    id,
    label: shortened(label === '' ? id : label),
    x: position.x,
    y: position.y,
  }));
  const places = new Map(nodes.map((node) => [node.id, node]));
  const edges = graph.edges.flatMap(({ id, source, target }) => {
    const [from, to] = [places.get(source), places.get(target)];
    if (!from || !to) return [];
    const [x1, y1] = [from.x + nodeWidth, from.y + nodeHeight / 2];
    const [x2, y2] = [to.x, to.y + nodeHeight / 2];
    const bend = Math.max(40, Math.abs(x2 - x1) / 2);
    return [{ id, path: `M ${x1} ${y1} C ${x1 + bend} ${y1}, ${x2 - bend} ${y2}, ${x2} ${y2}` }];
  });
  const left = Math.min(...nodes.map(({ x }) => x), Infinity);
  const top = Math.min(...nodes.map(({ y }) => y), Infinity);
  const right = Math.max(...nodes.map(({ x }) => x + nodeWidth), -Infinity);
  const bottom = Math.max(...nodes.map(({ y }) => y + nodeHeight), -Infinity);
  const viewBox =
    nodes.length === 0
      ? '0 0 1 1'
      : `${left - margin} ${top - margin} ${right - left + 2 * margin} ${bottom - top + 2 * margin}`;
  const isEmpty = nodes.length === 0;
  const width = isEmpty ? 1 : right - left + 2 * margin;
  const height = isEmpty ? 1 : bottom - top + 2 * margin;
  return { viewBox, width, height, nodes, edges };
}

const shortened = (label: string): string =>
  label.length > longestLabel ? `${label.slice(0, longestLabel - 1)}…` : label;
