// What every rule is given, computed once: the definition, its flat form, ports, loops, and a way to report.
import type { Diagnostic, GraphDefinition, GraphEdge, GraphNode } from '../../contract/graph.ts';
import { flattenGraph } from '../flatten.ts';
import { resolvePorts, type ResolvedPorts } from '../node-ports.ts';
import type { ManifestSource } from '../ports.ts';
import { analyseScopes, type ScopeForest } from '../scopes.ts';

export interface ValidationOptions {
  /** Where the graph would run; hooks need a POSIX shell. Default: this system. */
  readonly platform?: NodeJS.Platform;
}

export interface Finding {
  readonly severity?: Diagnostic['severity'];
  readonly rule: string;
  readonly message: string;
  readonly fix: string;
  /** Id in the flat graph. */
  readonly node?: string;
  /** Already a path; used for findings inside a composite before it is opened. */
  readonly path?: string;
  readonly edge?: GraphEdge;
}

export interface RuleContext {
  readonly definition: GraphDefinition;
  /** Composites opened. */
  readonly flat: GraphDefinition;
  readonly manifests: ManifestSource;
  readonly platform: NodeJS.Platform;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly ports: ReadonlyMap<string, ResolvedPorts>;
  readonly incoming: ReadonlyMap<string, readonly GraphEdge[]>;
  readonly outgoing: ReadonlyMap<string, readonly GraphEdge[]>;
  readonly forest: ScopeForest;
  pathOf(nodeId: string): string;
  report(finding: Finding): void;
}

export type Rule = (context: RuleContext) => void;

export function createContext(
  definition: GraphDefinition,
  manifests: ManifestSource,
  options: ValidationOptions,
): { readonly context: RuleContext; readonly diagnostics: Diagnostic[] } {
  const { graph: flat, pathOf } = flattenGraph(definition);
  const diagnostics: Diagnostic[] = [];
  const context: RuleContext = {
    definition,
    flat,
    manifests,
    platform: options.platform ?? process.platform,
    nodes: new Map(flat.nodes.map((node) => [node.id, node])),
    ports: resolvePorts(flat, manifests),
    incoming: Map.groupBy(flat.edges, (edge) => edge.target),
    outgoing: Map.groupBy(flat.edges, (edge) => edge.source),
    forest: analyseScopes(flat),
    pathOf,
    report({ severity = 'error', rule, message, fix, node, path, edge }) {
      const nodePath = path ?? (node === undefined ? '' : pathOf(node));
      diagnostics.push({ severity, rule, message, fix, nodePath, ...(edge && { edgeId: edge.id }) });
    },
  };
  return { context, diagnostics };
}

/** The handle a wire leaves by; `default` is the whole output. */
export function sourceHandleOf(edge: GraphEdge): string {
  return edge.sourceHandle || 'default';
}

/** The handle a wire ends on: its own, else the name of the one it left by. */
export function targetHandleOf(edge: GraphEdge): string {
  return edge.targetHandle || sourceHandleOf(edge);
}

/** Everything reachable from the seeds, seeds included. */
export function reachableFrom(
  seeds: Iterable<string>,
  next: (nodeId: string) => readonly string[],
): ReadonlySet<string> {
  const seen = new Set(seeds);
  const open = [...seen];
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    for (const neighbour of next(current)) {
      if (seen.has(neighbour)) continue;
      seen.add(neighbour);
      open.push(neighbour);
    }
  }
  return seen;
}
