// The document as it is written, level by level: ids, wires that lead nowhere, composites and their ports.
import type { GraphDefinition, GraphNode } from '../../contract/graph.ts';
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
  for (const [from, to] of [
    [context.incoming, 'source'],
    [context.outgoing, 'target'],
  ] as const) {
    for (let changed = true; changed;) {
      const free = [...left].filter((id) => !(from.get(id) ?? []).some((edge) => left.has(edge[to])));
      for (const id of free) left.delete(id);
      changed = free.length > 0;
    }
  }
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
