// A graph made ready to run many times: composites opened, names turned into indices, handlers bound, ready counts
// known. Nothing in it changes while a run goes on; a run's state lives in RunState.
import { StudioError } from '../base/errors.ts';
import { Tensor } from '../base/tensor.ts';
import type { GraphContainer, GraphDefinition, GraphHook, GraphNode } from '../contract/graph.ts';
import { isBudget } from './budgets.ts';
import { flattenGraph, nodeHooks, type FlatGraph } from './flatten.ts';
import { matchingHooks, parseHook } from './hooks.ts';
import { resolvedConfig, resolvePorts, type ResolvedPorts } from './node-ports.ts';
import { carryPrefix, iterInSlots, stopHandle, type IterInSlot } from './pivots.ts';
import type { NodeCatalog, NodeHandler } from './ports.ts';
import { analyseScopes, type ScopeForest } from './scopes.ts';
import { isListType } from './wire-types.ts';
import { viewerTypes } from './builtin/viewers.ts';

export type NodeRole = 'plain' | 'viewer' | 'iterIn' | 'iterOut' | 'graphIn' | 'graphOut';

export interface CompiledEdge {
  readonly target: number;
  readonly sourceHandle: string;
  /** The wire carries the whole output object. */
  readonly whole: boolean;
  readonly targetHandle: string;
  readonly isList: boolean;
  readonly required: boolean;
}

export interface CompiledNode {
  readonly index: number;
  readonly id: string;
  readonly type: string;
  readonly path: string;
  readonly role: NodeRole;
  readonly handler: NodeHandler;
  readonly declaresError: boolean;
  readonly requiredHandles: readonly string[];
  readonly edges: readonly CompiledEdge[];
  /** Index of the innermost scope, or -1 for the graph. */
  readonly scope: number;
  /** iterIn and iterOut: the other pivot; otherwise -1. */
  readonly partner: number;
  /** iterIn and iterOut: the scope they open and close; otherwise -1. */
  readonly ownScope: number;
  readonly slots: readonly IterInSlot[];
  /** Handles an iterOut hands to its partner; the slot's name is prefixed. */
  readonly carried: readonly string[];
  readonly portName: string;
  readonly granted: readonly string[];
  readonly beforeHooks: readonly GraphHook[];
  readonly afterHooks: readonly GraphHook[];
}

export interface CompiledScope {
  readonly id: string;
  readonly iterIn: number;
  readonly iterOut: number;
  readonly parent: number;
  readonly ownBudget: number | null;
  readonly memberCount: number;
  readonly graphOuts: readonly number[];
}

export interface CompiledGraph {
  readonly name: string;
  readonly nodes: readonly CompiledNode[];
  readonly scopes: readonly CompiledScope[];
  /** The scope whose end is the end of the run, or -1. */
  readonly rootScope: number;
  readonly entries: readonly number[];
  readonly outsideCount: number;
  readonly containers: readonly GraphContainer[];
  readonly hooks: readonly GraphHook[];
  readonly stepBudget: number | null;
  readonly catalog: NodeCatalog;
}

/** Throws `unknown_node_type` or `graph_invalid`; validate first for the full list of what is wrong. */
export function compileGraph(definition: GraphDefinition, catalog: NodeCatalog): CompiledGraph {
  const flat = flattenGraph(definition);
  const forest = analyseScopes(flat.graph);
  const problem = forest.problems[0];
  if (problem) {
    throw new StudioError('graph_invalid', `${problem.message}; open the graph and fix its loops`, {
      scope: { nodePath: flat.pathOf(problem.nodeId) },
    });
  }
  const nodes = compileNodes(flat, forest, catalog);
  const indexOf = new Map(nodes.map((node) => [node.id, node.index]));
  const scopes = forest.scopes.map((scope) => ({
    id: scope.id,
    iterIn: indexOf.get(scope.id) ?? -1,
    iterOut: indexOf.get(scope.iterOutId) ?? -1,
    parent: forest.scopes.findIndex((other) => other.id === scope.parentId),
    ownBudget: checkedBudget(scope.ownBudget, scope.id),
    memberCount: scope.memberIds.size,
    graphOuts: scope.graphOutIds.map((id) => indexOf.get(id) ?? -1),
  }));
  const fed = new Set(flat.graph.edges.map((edge) => edge.target));
  return {
    name: definition.name,
    nodes,
    scopes,
    rootScope: forest.root ? forest.scopes.indexOf(forest.root) : -1,
    entries: nodes
      .filter((node) => node.role !== 'iterIn' && !fed.has(node.id) && node.requiredHandles.length === 0)
      .map((node) => node.index),
    outsideCount: nodes.filter((node) => node.scope < 0).length,
    containers: flat.graph.containers,
    hooks: definition.hooks,
    stepBudget:
      definition.step_budget === undefined ? (definition.maxIterations ?? null) : definition.step_budget,
    catalog,
  };
}

function checkedBudget(value: unknown, nodePath: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && isBudget(value)) return value;
  throw new StudioError(
    'graph_invalid',
    `step_budget of a loop must be a whole number of at least 1, got ${JSON.stringify(value)}`,
    {
      scope: { nodePath },
    },
  );
}

interface NodeTables {
  readonly flat: FlatGraph;
  readonly forest: ScopeForest;
  readonly catalog: NodeCatalog;
  readonly indexOf: ReadonlyMap<string, number>;
  readonly ports: ReadonlyMap<string, ResolvedPorts>;
  readonly slots: ReadonlyMap<string, readonly IterInSlot[]>;
  readonly hooks: readonly GraphHook[];
  readonly edges: ReadonlyMap<string, readonly CompiledEdge[]>;
  readonly grants: ReadonlyMap<string, readonly string[]>;
}

function compileNodes(flat: FlatGraph, forest: ScopeForest, catalog: NodeCatalog): readonly CompiledNode[] {
  const { graph } = flat;
  const ports = resolvePorts(graph, { manifestOf: (type) => catalog.lookup(type)?.manifest });
  const indexOf = new Map(graph.nodes.map((node, index) => [node.id, index]));
  const grants = new Map<string, string[]>();
  for (const grant of graph.access_grants) {
    const list = grants.get(grant.node_id) ?? [];
    if (!list.includes(grant.container_id)) list.push(grant.container_id);
    grants.set(grant.node_id, list);
  }
  const tables: NodeTables = {
    flat,
    forest,
    catalog,
    indexOf,
    ports,
    slots: iterInSlots(graph),
    hooks: [...graph.hooks, ...nodeHooks(graph, parseHook)],
    edges: compileEdges(graph, indexOf, ports),
    grants,
  };
  return graph.nodes.map((node, index) => compileNode(node, index, tables));
}

function compileEdges(
  graph: GraphDefinition,
  indexOf: ReadonlyMap<string, number>,
  ports: ReadonlyMap<string, ResolvedPorts>,
): ReadonlyMap<string, readonly CompiledEdge[]> {
  const result = new Map<string, CompiledEdge[]>();
  for (const edge of graph.edges) {
    const target = indexOf.get(edge.target);
    if (target === undefined || !indexOf.has(edge.source)) continue;
    const sourceHandle = edge.sourceHandle || 'default';
    const targetHandle = edge.targetHandle || sourceHandle;
    const port = ports.get(edge.target)?.inputs.find((candidate) => candidate.name === targetHandle);
    const isSlot = graph.nodes[target]?.type === 'iterIn';
    const list = result.get(edge.source) ?? [];
    list.push({
      target,
      sourceHandle,
      whole: sourceHandle === 'default',
      targetHandle,
      isList: !isSlot && port !== undefined && isListType(port.wireType),
      required: port?.required ?? false,
    });
    result.set(edge.source, list);
  }
  return result;
}

function compileNode(node: GraphNode, index: number, tables: NodeTables): CompiledNode {
  const { flat, forest, catalog, indexOf } = tables;
  const type = catalog.lookup(node.type);
  const path = flat.pathOf(node.id);
  if (!type) {
    throw new StudioError(
      'unknown_node_type',
      `no loaded nodeset provides '${node.type}'; load its nodeset or replace the node`,
      {
        scope: { nodePath: path },
      },
    );
  }
  const config = resolvedConfig(node, type.manifest);
  const ports = tables.ports.get(node.id);
  const scopeIndex = (id: string | null): number => forest.scopes.findIndex((scope) => scope.id === id);
  const ownScope = forest.scopes.findIndex((scope) => scope.id === node.id || scope.iterOutId === node.id);
  const opened = forest.scopes[ownScope];
  const partnerId = opened && (opened.id === node.id ? opened.iterOutId : opened.id);
  return {
    index,
    id: node.id,
    type: node.type,
    path,
    role: roleOf(node.type),
    handler: type.bind(node.id, config),
    declaresError: ports?.outputs.some((port) => port.name === 'error') ?? false,
    requiredHandles: ports?.inputs.filter((port) => port.required).map((port) => port.name) ?? [],
    edges: tables.edges.get(node.id) ?? [],
    scope: scopeIndex(forest.scopeOf(node.id)),
    partner: partnerId === undefined ? -1 : (indexOf.get(partnerId) ?? -1),
    ownScope,
    slots: tables.slots.get(node.id) ?? [],
    carried: node.type === 'iterOut' ? carriedHandles(ports, tables.slots.get(partnerId ?? '') ?? []) : [],
    portName: typeof config.portName === 'string' && config.portName !== '' ? config.portName : 'output',
    granted: tables.grants.get(node.id) ?? [],
    beforeHooks: matchingHooks(tables.hooks, 'PreNodeExecute', node),
    afterHooks: matchingHooks(tables.hooks, 'PostNodeExecute', node),
  };
}

function carriedHandles(ports: ResolvedPorts | undefined, slots: readonly IterInSlot[]): readonly string[] {
  const taken = new Set(slots.map((slot) => slot.handle));
  return (
    ports?.inputs
      .map((port) => port.name)
      .filter((name) => name !== stopHandle && taken.has(carryPrefix + name)) ?? []
  );
}

function roleOf(type: string): NodeRole {
  if (type === 'iterIn' || type === 'iterOut' || type === 'graphIn' || type === 'graphOut') return type;
  return viewerTypes.has(type) ? 'viewer' : 'plain';
}

/** A value's truth as the format has it: empty text, lists and objects are false, as are null, 0 and false. */
export function isTruthy(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value) || Number.isNaN(value);
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Tensor) return value.size !== 1 || Boolean(value.data[0]);
  if (value instanceof Map || value instanceof Set) return value.size > 0;
  return Object.getPrototypeOf(value) !== Object.prototype || Object.keys(value).length > 0;
}
