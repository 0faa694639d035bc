// Wire types: both ends of every wire must fit, and the names must exist.
import type { GraphEdge } from '../../contract/graph.ts';
import { deprecatedWireTypes, innerType, isKnownWireType, isListType, wireMismatch } from '../wire-types.ts';
import { sourceHandleOf, targetHandleOf, type RuleContext } from './context.ts';

export function wireRules(context: RuleContext): void {
  for (const edge of context.flat.edges) checkEdge(context, edge);
  for (const node of context.flat.nodes) checkDeclaredTypes(context, node.id);
}

function checkEdge(context: RuleContext, edge: GraphEdge): void {
  const from = context.ports.get(edge.source)?.outputs.find((port) => port.name === sourceHandleOf(edge));
  const to = context.ports.get(edge.target)?.inputs.find((port) => port.name === targetHandleOf(edge));
  if (!from || !to) return;
  const reason = wireMismatch(from.wireType, to.wireType);
  if (reason === undefined) return;
  context.report({
    rule: 'wire-type',
    node: edge.target,
    edge,
    message: `wire '${edge.id}' from '${context.pathOf(edge.source)}' (${from.name}) to '${to.name}': ${reason}`,
    fix: `Wire an output of type ${innerType(to.wireType)} to '${to.name}', or put a node between that converts it.`,
  });
}

function checkDeclaredTypes(context: RuleContext, nodeId: string): void {
  const ports = context.ports.get(nodeId);
  if (!ports) return;
  const reported = new Set<string>();
  for (const { name, wireType } of [...ports.inputs, ...ports.outputs]) {
    const bare = innerType(wireType);
    if (reported.has(wireType)) continue;
    reported.add(wireType);
    if (isListType(bare)) {
      context.report({
        rule: 'nested-list',
        node: nodeId,
        message: `port '${name}' is ${wireType}; lists do not nest`,
        fix: `Make it ${bare}.`,
      });
    } else if (!isKnownWireType(wireType)) {
      context.report({
        severity: 'warning',
        rule: 'unknown-wire-type',
        node: nodeId,
        message: `port '${name}' has the unknown type ${wireType}`,
        fix: 'Use a type of the format, or ANY.',
      });
    } else if (Object.hasOwn(deprecatedWireTypes, bare)) {
      context.report({
        severity: 'warning',
        rule: 'deprecated-wire-type',
        node: nodeId,
        message: `port '${name}' has the deprecated type ${bare}`,
        fix: `Use ${deprecatedWireTypes[bare]} instead.`,
      });
    }
  }
}
