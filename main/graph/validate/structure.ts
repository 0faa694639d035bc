// The document as it is written, level by level: ids, wires that lead nowhere, composites and their ports.
import type { GraphDefinition, GraphEdge, GraphNode } from '../../contract/graph.ts';
import type { RuleContext } from './context.ts';

export function structureRules(context: RuleContext): void {
  checkLevel(context, context.definition, '');
  checkFlatIds(context);
  checkCycles(context);
}

function checkLevel(context: RuleContext, level: GraphDefinition, prefix: string): void {
  const seen = new Set<string>();
  for (const node of level.nodes) {
    const path = prefix + node.id;
    if (seen.has(node.id)) {
      context.report({
        rule: 'duplicate-id',
        path,
        message: `two nodes have the id '${node.id}'`,
        fix: 'Give one of them another id and lead its wires there.',
      });
    }
    seen.add(node.id);
    if (node.subgraph) checkLevel(context, node.subgraph, `${path} > `);
    checkComposite(context, level, node, path);
  }
  for (const edge of level.edges) {
    const missing = [edge.source, edge.target].find((id) => !seen.has(id));
    if (missing === undefined) continue;
    context.report({
      severity: 'warning',
      rule: 'dangling-wire',
      path: prefix + (edge.source === missing ? edge.target : edge.source),
      edge,
      message: `wire '${edge.id}' names the node '${missing}', which does not exist`,
      fix: 'Remove the wire, or draw it to an existing node.',
    });
  }
}

function checkComposite(context: RuleContext, level: GraphDefinition, node: GraphNode, path: string): void {
  const inner = node.subgraph?.nodes ?? [];
  if (node.type === 'compositeNode' && inner.length === 0) {
    context.report({
      rule: 'empty-composite',
      path,
      message: 'this composite has nothing inside',
      fix: 'Open it and add nodes, or remove it.',
    });
  }
  if (inner.length === 0) return;
  const portsOf = (type: string, fallback: string): readonly string[] =>
    inner
      .filter((child) => child.type === type)
      .map((child) => (typeof child.config.portName === 'string' ? child.config.portName : fallback));
  const inputs = portsOf('graphIn', 'input');
  const outputs = portsOf('graphOut', 'output');
  for (const edge of level.edges) {
    const enters = edge.target === node.id ? edge.targetHandle || 'input' : undefined;
    const leaves = edge.source === node.id ? edge.sourceHandle || 'output' : undefined;
    for (const [port, known, boundary] of [
      [enters, inputs, 'graphIn'],
      [leaves, outputs, 'graphOut'],
    ] as const) {
      if (port === undefined || known.includes(port)) continue;
      context.report({
        rule: 'composite-port',
        path,
        edge,
        message: `this composite has no port '${port}' (it has: ${known.join(', ') || 'none'})`,
        fix: `Add a ${boundary} with portName '${port}' inside it, or draw the wire to an existing port.`,
      });
    }
  }
}

/** Opening composites joins ids with `__`; two nodes may then meet in one. */
function checkFlatIds(context: RuleContext): void {
  const seen = new Set<string>();
  const outer = new Set(context.definition.nodes.map((node) => node.id));
  for (const { id } of context.flat.nodes) {
    if (seen.has(id) && !outer.has(id)) {
      context.report({
        rule: 'duplicate-id',
        node: id,
        message: `'${id}' is the id of two nodes once composites are opened`,
        fix: 'Rename the composite or the node inside it.',
      });
    }
    seen.add(id);
  }
}

/** Wires in a circle without a loop's pivots fire until the firing cap ends the run. */
function checkCycles(context: RuleContext): void {
  const left = new Set(context.flat.nodes.map((node) => node.id));
  peel(left, context.incoming, 'source', context.outgoing, 'target');
  peel(left, context.outgoing, 'target', context.incoming, 'source');
  const [first] = left;
  if (first === undefined) return;
  const paths = [...left].slice(0, 5).map((id) => context.pathOf(id));
  context.report({
    severity: 'warning',
    rule: 'cycle',
    node: first,
    message: `wires form a circle outside a loop: ${paths.join(', ')}`,
    fix: 'Repeat with an iterIn and an iterOut instead; a bare circle runs until the firing cap stops the graph.',
  });
}

type Wires = ReadonlyMap<string, readonly GraphEdge[]>;
type End = 'source' | 'target';

/** Takes away, one after the other, the nodes that none of those left leads to. */
function peel(left: Set<string>, into: Wires, from: End, onward: Wires, to: End): void {
  const remaining = new Map<string, number>();
  for (const id of left)
    remaining.set(id, (into.get(id) ?? []).filter((edge) => left.has(edge[from])).length);
  const free = [...left].filter((id) => remaining.get(id) === 0);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    left.delete(id);
    for (const edge of onward.get(id) ?? []) {
      const next = edge[to];
      const count = (remaining.get(next) ?? 0) - 1;
      remaining.set(next, count);
      if (count === 0 && left.has(next)) free.push(next);
    }
  }
}
