// Ports of ordinary nodes: required ones need a wire, and wires should end on ports that exist.
import type { GraphEdge, GraphNode } from '../../contract/graph.ts';
import { sourceHandleOf, targetHandleOf, type RuleContext } from './context.ts';

export function portRules(context: RuleContext): void {
  for (const node of context.flat.nodes) {
    const ports = context.ports.get(node.id);
    if (!ports) continue;
    const fed = new Set((context.incoming.get(node.id) ?? []).map(targetHandleOf));
    const missing = ports.inputs.filter((port) => port.required && !fed.has(port.name));
    if (missing.length > 0) {
      const names = missing.map((port) => `'${port.name}'`).join(', ');
      context.report({
        rule: 'required-port',
        node: node.id,
        message: `nothing is wired to the required port ${names}`,
        fix: `Wire a value to ${names}, or the node never fires.`,
      });
    }
  }
  for (const edge of context.flat.edges) checkHandles(context, edge);
}

function checkHandles(context: RuleContext, edge: GraphEdge): void {
  const source = context.nodes.get(edge.source);
  const target = context.nodes.get(edge.target);
  const outputs = context.ports.get(edge.source)?.outputs;
  const inputs = context.ports.get(edge.target)?.inputs;
  const from = sourceHandleOf(edge);
  const to = targetHandleOf(edge);
  if (
    source &&
    outputs &&
    isFixed(source) &&
    from !== 'default' &&
    !outputs.some((port) => port.name === from)
  ) {
    reportHandle(context, {
      edge,
      node: source,
      handle: from,
      side: 'output',
      known: outputs.map((port) => port.name),
    });
  }
  if (target && inputs && isFixed(target) && !inputs.some((port) => port.name === to)) {
    reportHandle(context, {
      edge,
      node: target,
      handle: to,
      side: 'input',
      known: inputs.map((port) => port.name),
    });
  }
}

/** Pivots have rules of their own, and a node with ports in its config may have more than its type says. */
function isFixed(node: GraphNode): boolean {
  return node.type !== 'iterIn' && node.type !== 'iterOut' && !Array.isArray(node.config.ports);
}

interface UnknownHandle {
  readonly edge: GraphEdge;
  readonly node: GraphNode;
  readonly handle: string;
  readonly side: 'input' | 'output';
  readonly known: readonly string[];
}

function reportHandle(context: RuleContext, { edge, node, handle, side, known }: UnknownHandle): void {
  context.report({
    severity: 'warning',
    rule: 'unknown-handle',
    node: node.id,
    edge,
    message: `'${node.type}' has no ${side} '${handle}', so wire '${edge.id}' carries nothing it knows of`,
    fix: `Draw the wire to one of: ${known.join(', ') || 'none'}.`,
  });
}
