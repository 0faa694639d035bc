// Small questions about a definition: which nodesets it needs, its hash, what of it would run.
import { stableHash } from '../base/stable-hash.ts';
import type { GraphDefinition, GraphHook } from '../contract/graph.ts';
import { parseHook } from './hooks.ts';

/** Every node at every level, with the ids that lead to it. */
export function allNodes(
  definition: GraphDefinition,
): readonly { readonly path: string; readonly node: GraphDefinition['nodes'][number] }[] {
  const walk = (graph: GraphDefinition, prefix: string): ReturnType<typeof allNodes> =>
    graph.nodes.flatMap((node) => {
      const path = prefix + node.id;
      return [{ path, node }, ...(node.subgraph ? walk(node.subgraph, `${path} > `) : [])];
    });
  return walk(definition, '');
}

/** The part of a node type before `__`, or undefined for built-ins and composites. */
export function nodesetOf(nodeType: string): string | undefined {
  const position = nodeType.indexOf('__');
  return position > 0 ? nodeType.slice(0, position) : undefined;
}

/** Names of the nodesets the graph needs, in the order they first appear. */
export function requiredNodesets(definition: GraphDefinition): readonly string[] {
  const names = new Set<string>();
  for (const { node } of allNodes(definition)) {
    const name = (node.subgraph?.nodes.length ?? 0) > 0 ? undefined : nodesetOf(node.type);
    if (name !== undefined) names.add(name);
  }
  return [...names];
}

/** SHA-256 over what runs: positions, labels and descriptions do not count, and neither does the order of keys. */
export function graphHash(definition: GraphDefinition): string {
  return stableHash(executablePart(definition));
}

function executablePart(graph: GraphDefinition): object {
  return {
    nodes: graph.nodes.map(({ id, type, config, subgraph }) => ({
      id,
      type,
      config,
      ...(subgraph && { subgraph: executablePart(subgraph) }),
    })),
    edges: graph.edges.map(({ source, target, sourceHandle, targetHandle }) => [
      source,
      sourceHandle,
      target,
      targetHandle,
    ]),
    containers: graph.containers.map(({ id, states }) => ({ id, states })),
    access_grants: graph.access_grants.map(({ node_id, container_id }) => [node_id, container_id]),
    hooks: graph.hooks,
    step_budget: graph.step_budget ?? graph.maxIterations ?? null,
    eval_graph: graph.eval_graph,
  };
}

/** A command of the graph that would run; shown before a graph from an untrusted folder does. */
export interface ExecutableField {
  /** `hooks[0]` or the path of the node that carries it. */
  readonly where: string;
  readonly event: GraphHook['event'];
  readonly command: string;
}

/** Enabled hooks, of the graph and of its nodes. Hooks inside a composite's own definition do not run. */
export function executableFields(definition: GraphDefinition): readonly ExecutableField[] {
  const ofGraph = definition.hooks.map((hook, index) => ({ where: `hooks[${index}]`, hook }));
  const ofNodes = allNodes(definition).flatMap(({ path, node }) => {
    const written: readonly unknown[] = Array.isArray(node.config.hooks) ? node.config.hooks : [];
    return written.flatMap((entry) => {
      const hook = parseHook(entry);
      return hook ? [{ where: path, hook }] : [];
    });
  });
  return [...ofGraph, ...ofNodes]
    .filter(({ hook }) => hook.enabled)
    .map(({ where, hook }) => ({ where, event: hook.event, command: hook.command }));
}
