// Loops as scopes: one (iterIn, iterOut) pair each, nested by where their pivots lie. A node belongs to the innermost
// loop it is in; everything else belongs to the graph. Pure: it reads a flat graph and reports what is wrong with it.
import type { GraphDefinition, GraphNode } from '../contract/graph.ts';
import { finalPrefix, pairOf } from './pivots.ts';

export interface Scope {
  /** The iterIn's node id. */
  readonly id: string;
  readonly iterOutId: string;
  readonly parentId: string | null;
  readonly ownBudget: unknown;
  readonly memberIds: ReadonlySet<string>;
  /** In document order. */
  readonly graphOutIds: readonly string[];
}

export interface ScopeProblem {
  readonly rule: 'unpaired' | 'paired-twice' | 'scope-overlap';
  readonly nodeId: string;
  readonly message: string;
}

export interface ScopeForest {
  /** In the document order of their iterIns. */
  readonly scopes: readonly Scope[];
  /** The first scope without a parent: its end is the end of the run. */
  readonly root: Scope | undefined;
  /** Innermost scope of a node; null for the graph itself. */
  readonly scopeOf: (nodeId: string) => string | null;
  readonly problems: readonly ScopeProblem[];
}

interface Adjacency {
  readonly out: ReadonlyMap<string, readonly string[]>;
  readonly in: ReadonlyMap<string, readonly string[]>;
}

export function analyseScopes(graph: GraphDefinition): ScopeForest {
  const problems: ScopeProblem[] = [];
  const pairs = pairPivots(graph, problems);
  const adjacency = adjacencyOf(graph);
  const candidates = new Map(
    [...pairs].map(([iterIn, iterOut]) => [iterIn, candidateMembers(iterIn, iterOut, adjacency)] as const),
  );
  const parents = findParents(pairs, candidates, problems);
  const memberScope = assignMembers(candidates, parents);
  assignBoundaries({ graph, adjacency, parents, pairs, memberScope });
  const scopes = [...pairs].map(([iterIn, iterOut]) => {
    const members = [...memberScope].filter(([, scope]) => scope === iterIn).map(([nodeId]) => nodeId);
    return {
      id: iterIn,
      iterOutId: iterOut,
      parentId: parents.get(iterIn) ?? null,
      ownBudget: graph.nodes.find((node) => node.id === iterIn)?.config.step_budget,
      memberIds: new Set(members),
      graphOutIds: graph.nodes
        .filter((node) => node.type === 'graphOut' && memberScope.get(node.id) === iterIn)
        .map((node) => node.id),
    };
  });
  return {
    scopes,
    root: scopes.find((scope) => scope.parentId === null),
    scopeOf: (nodeId) => memberScope.get(nodeId) ?? null,
    problems,
  };
}

/** iterIn id to iterOut id, in the document order of the iterIns. */
function pairPivots(graph: GraphDefinition, problems: ScopeProblem[]): ReadonlyMap<string, string> {
  const claims = new Map<string, string>();
  for (const node of graph.nodes) {
    const iterIn = node.type === 'iterOut' ? pairOf(node) : undefined;
    if (iterIn === undefined) continue;
    const first = claims.get(iterIn);
    if (first === undefined) claims.set(iterIn, node.id);
    else
      problems.push({
        rule: 'paired-twice',
        nodeId: node.id,
        message: `iterOut '${first}' is paired with '${iterIn}' already`,
      });
  }
  const pairs = new Map<string, string>();
  for (const node of graph.nodes) {
    if (node.type !== 'iterIn') continue;
    const iterOut = claims.get(node.id);
    if (iterOut !== undefined) pairs.set(node.id, iterOut);
    else
      problems.push({ rule: 'unpaired', nodeId: node.id, message: 'no iterOut is paired with this iterIn' });
  }
  return pairs;
}

function adjacencyOf(graph: GraphDefinition): Adjacency {
  const out = new Map<string, string[]>();
  const into = new Map<string, string[]>();
  const add = (map: Map<string, string[]>, from: string, to: string): void => {
    const list = map.get(from);
    if (list) list.push(to);
    else map.set(from, [to]);
  };
  const connect = (source: string, target: string): void => {
    add(out, source, target);
    add(into, target, source);
  };
  const ids = new Set(graph.nodes.map((node) => node.id));
  for (const edge of graph.edges) connect(edge.source, edge.target);
  for (const node of graph.nodes) {
    const partner = node.type === 'iterOut' ? pairOf(node) : undefined;
    if (partner !== undefined && ids.has(partner)) connect(node.id, partner);
  }
  return { out, in: into };
}

function candidateMembers(iterIn: string, iterOut: string, adjacency: Adjacency): ReadonlySet<string> {
  const forward = reachable(iterIn, iterOut, adjacency.out);
  const backward = reachable(iterOut, iterIn, adjacency.in);
  return new Set([...forward.intersection(backward), iterIn, iterOut]);
}

/** Everything reachable from `start`; the walk enters `boundary` but does not leave it. */
function reachable(
  start: string,
  boundary: string,
  next: ReadonlyMap<string, readonly string[]>,
): Set<string> {
  const seen = new Set([start]);
  const open = [start];
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    if (current === boundary) continue;
    for (const neighbour of next.get(current) ?? []) {
      if (seen.has(neighbour)) continue;
      seen.add(neighbour);
      open.push(neighbour);
    }
  }
  return seen;
}

type Candidates = ReadonlyMap<string, ReadonlySet<string>>;

function findParents(
  pairs: ReadonlyMap<string, string>,
  candidates: Candidates,
  problems: ScopeProblem[],
): ReadonlyMap<string, string> {
  const holds = (outer: string, inner: string): boolean => {
    const members = candidates.get(outer);
    return members !== undefined && members.has(inner) && members.has(pairs.get(inner) ?? '');
  };
  const within = (inner: string, outer: string): boolean =>
    inner !== outer && holds(outer, inner) && !holds(inner, outer);
  const ids = [...pairs.keys()];
  const parents = new Map<string, string>();
  for (const id of ids) {
    const enclosing = ids.filter((other) => within(id, other));
    const innermost = smallest(enclosing, candidates);
    const isNested = enclosing.every((other) => other === innermost || within(innermost ?? '', other));
    if (innermost !== undefined && isNested && !leadsTo(parents, innermost, id)) parents.set(id, innermost);
    else if (enclosing.length > 0) problems.push(overlap(id, enclosing));
  }
  for (const [index, one] of ids.entries()) {
    for (const other of ids.slice(index + 1)) {
      if (within(one, other) || within(other, one)) continue;
      const meets = candidates.get(one)?.isDisjointFrom(candidates.get(other) ?? new Set<string>()) === false;
      if (meets) problems.push(overlap(other, [one]));
    }
  }
  return parents;
}

/** Of loops that lie in each other, the innermost one has the fewest members. */
function smallest(ids: readonly string[], candidates: Candidates): string | undefined {
  const sizeOf = (id: string): number => candidates.get(id)?.size ?? 0;
  return ids.reduce<string | undefined>(
    (best, id) => (best === undefined || sizeOf(id) < sizeOf(best) ? id : best),
    undefined,
  );
}

function leadsTo(parents: ReadonlyMap<string, string>, from: string, to: string): boolean {
  for (let current: string | undefined = from; current !== undefined; current = parents.get(current)) {
    if (current === to) return true;
  }
  return false;
}

function overlap(nodeId: string, others: readonly string[]): ScopeProblem {
  return {
    rule: 'scope-overlap',
    nodeId,
    message: `this loop overlaps with ${others.map((id) => `'${id}'`).join(', ')} without lying inside`,
  };
}

function assignMembers(candidates: Candidates, parents: ReadonlyMap<string, string>): Map<string, string> {
  const memberScope = new Map<string, string>();
  for (const [id, members] of candidates) {
    const children = [...parents]
      .filter(([, parent]) => parent === id)
      .map(([child]) => candidates.get(child));
    for (const nodeId of members) {
      if (!children.some((child) => child?.has(nodeId))) memberScope.set(nodeId, id);
    }
  }
  return memberScope;
}

interface BoundaryInput {
  readonly graph: GraphDefinition;
  readonly adjacency: Adjacency;
  readonly parents: ReadonlyMap<string, string>;
  readonly pairs: ReadonlyMap<string, string>;
  readonly memberScope: Map<string, string>;
}

/** A graphIn belongs to the deepest loop it feeds, a graphOut to the deepest one that feeds it. */
function assignBoundaries({ graph, adjacency, parents, pairs, memberScope }: BoundaryInput): void {
  const depthOf = (scope: string): number => {
    let depth = 0;
    for (let parent = parents.get(scope); parent !== undefined; parent = parents.get(parent)) depth++;
    return depth;
  };
  const deepest = (nodeIds: readonly string[]): string | undefined =>
    nodeIds
      .map((nodeId) => memberScope.get(nodeId))
      .reduce(
        (best, scope) =>
          scope !== undefined && (best === undefined || depthOf(scope) > depthOf(best)) ? scope : best,
        undefined,
      );
  const move = (node: GraphNode, neighbours: readonly string[]): void => {
    const owner = deepest(neighbours);
    if (owner !== undefined) memberScope.set(node.id, owner);
  };
  for (const node of graph.nodes) if (node.type === 'graphIn') move(node, adjacency.out.get(node.id) ?? []);
  const inRoot = (nodeId: string): boolean => {
    const scope = memberScope.get(nodeId);
    return scope !== undefined && pairs.has(scope) && !parents.has(scope);
  };
  const rootFinals = new Map<string, Set<string>>();
  for (const edge of graph.edges) {
    if (!(edge.sourceHandle ?? '').startsWith(finalPrefix) || !inRoot(edge.source)) continue;
    rootFinals.set(edge.target, (rootFinals.get(edge.target) ?? new Set()).add(edge.source));
  }
  for (const node of graph.nodes) {
    if (node.type !== 'graphOut') continue;
    const finals = rootFinals.get(node.id);
    move(
      node,
      (adjacency.in.get(node.id) ?? []).filter((source) => !finals?.has(source)),
    );
  }
}
