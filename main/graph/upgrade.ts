// Older spellings of the format, translated when a graph is opened: `maxIterations`, and containers that were drawn
// as nodes with their grants as wires.
import { z } from 'zod';
import { stateDefinition, type GraphDefinition, type GraphEdge, type GraphNode } from '../contract/graph.ts';

const containerType = 'stateContainer';
const statesSchema = z.record(z.string(), stateDefinition);

/** The same object when there is nothing to translate. */
export function upgradeGraph(graph: GraphDefinition): GraphDefinition {
  return withSubgraphs(withContainers(withBudget(graph)));
}

function withBudget(graph: GraphDefinition): GraphDefinition {
  if (graph.step_budget !== undefined || graph.maxIterations == null) return graph;
  return { ...graph, step_budget: graph.maxIterations };
}

function withContainers(graph: GraphDefinition): GraphDefinition {
  const drawn = graph.nodes.filter((node) => node.type === containerType);
  if (drawn.length === 0) return graph;
  const ids = new Set(drawn.map((node) => node.id));
  const isGrant = (edge: GraphEdge): boolean => ids.has(edge.source) || ids.has(edge.target);
  const known = new Set(graph.containers.map((container) => container.id));
  return {
    ...graph,
    nodes: graph.nodes.filter((node) => node.type !== containerType),
    edges: graph.edges.filter((edge) => !isGrant(edge)),
    containers: [...graph.containers, ...drawn.filter((node) => !known.has(node.id)).map(containerOf)],
    access_grants: [
      ...graph.access_grants,
      ...graph.edges.filter(isGrant).map((edge) => ({
        id: edge.id,
        node_id: ids.has(edge.source) ? edge.target : edge.source,
        container_id: ids.has(edge.source) ? edge.source : edge.target,
      })),
    ],
  };
}

function containerOf(node: GraphNode): GraphDefinition['containers'][number] {
  const states = statesSchema.safeParse(node.config.states ?? node.states ?? {});
  return {
    id: node.id,
    label: node.label,
    position: node.position,
    states: states.success ? states.data : {},
  };
}

function withSubgraphs(graph: GraphDefinition): GraphDefinition {
  let changed = false;
  const nodes = graph.nodes.map((node) => {
    if (!node.subgraph) return node;
    const subgraph = upgradeGraph(node.subgraph);
    if (subgraph === node.subgraph) return node;
    changed = true;
    return { ...node, subgraph };
  });
  return changed ? { ...graph, nodes } : graph;
}
