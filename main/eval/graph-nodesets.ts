// Which nodesets a graph needs: the part of a node type before `__`, in composites too, in order of appearance.
import type { GraphDefinition } from '../contract/graph.ts';

export function graphNodesets(graph: GraphDefinition): string[] {
  const names = new Set<string>();
  const visit = ({ nodes }: GraphDefinition): void => {
    for (const node of nodes) {
      const separator = node.type.indexOf('__');
      if (separator > 0) names.add(node.type.slice(0, separator));
      if (node.subgraph) visit(node.subgraph);
    }
  };
  visit(graph);
  return [...names];
}
