// Loop pivots: older spellings, ports, pairing, and handles that do not exist.
import type { GraphNode } from '../../contract/graph.ts';
import { configPorts, finalPrefix, pairOf, stepHandle, stopHandle } from '../pivots.ts';
import { sourceHandleOf, targetHandleOf, type RuleContext } from './context.ts';

export function pivotRules(context: RuleContext): void {
  for (const node of context.flat.nodes) {
    if (node.type === 'iterIn') checkIterIn(context, node);
    if (node.type === 'iterOut') checkIterOut(context, node);
  }
}

function checkIterIn(context: RuleContext, node: GraphNode): void {
  if ('init_ports' in node.config || 'loop_ports' in node.config) {
    context.report({
      rule: 'legacy-iter-in',
      node: node.id,
      message: 'init_ports and loop_ports are no longer read',
      fix: "Move init_ports to config.initPorts and remove loop_ports: those follow from the paired iterOut's ports.",
    });
  }
  checkPair(context, node, 'iterOut');
  const known = context.ports.get(node.id)?.outputs.map((port) => port.name) ?? [];
  for (const edge of context.outgoing.get(node.id) ?? []) {
    const handle = sourceHandleOf(edge);
    if (handle === 'default' || known.includes(handle)) continue;
    context.report({
      rule: 'pivot-handle',
      node: node.id,
      edge,
      message: `wire '${edge.id}' leaves by '${handle}', which this iterIn does not have`,
      fix: `Use one of: ${[...new Set([stepHandle, ...known])].join(', ')}.`,
    });
  }
}

function checkIterOut(context: RuleContext, node: GraphNode): void {
  const names = configPorts(node.config.ports).map((port) => port.name);
  if (names.length === 0) {
    context.report({
      rule: 'iter-out-ports',
      node: node.id,
      message: 'this iterOut has no ports, so the loop carries nothing',
      fix: 'Add at least one port to config.ports and wire it.',
    });
  }
  checkPair(context, node, 'iterIn');
  const inputs = [...names, stopHandle];
  for (const edge of context.incoming.get(node.id) ?? []) {
    if (inputs.includes(targetHandleOf(edge))) continue;
    context.report({
      rule: 'pivot-handle',
      node: node.id,
      edge,
      message: `wire '${edge.id}' ends on '${targetHandleOf(edge)}', which this iterOut does not have`,
      fix: `Use one of: ${inputs.join(', ')}; or add the port to config.ports.`,
    });
  }
  const finals = inputs.map((name) => finalPrefix + name);
  for (const edge of context.outgoing.get(node.id) ?? []) {
    if (finals.includes(sourceHandleOf(edge))) continue;
    context.report({
      rule: 'pivot-handle',
      node: node.id,
      edge,
      message: `wire '${edge.id}' leaves by '${sourceHandleOf(edge)}'; an iterOut gives only its final side`,
      fix: `Use one of: ${finals.join(', ')}; what is needed every iteration comes from a node inside the loop.`,
    });
  }
}

function checkPair(context: RuleContext, node: GraphNode, partnerType: 'iterIn' | 'iterOut'): void {
  const pair = pairOf(node);
  const partner = context.nodes.get(pair ?? '');
  const fix = `Set config.pairedWith of this node to an ${partnerType} and that node's to '${node.id}'.`;
  if (pair === undefined) {
    context.report({
      rule: 'pairing',
      node: node.id,
      message: `this ${node.type} is paired with nothing`,
      fix,
    });
  } else if (partner?.type !== partnerType) {
    const message = `pairedWith is '${pair}', which is ${partner ? `a ${partner.type}` : 'no node of this graph'}`;
    context.report({ rule: 'pairing', node: node.id, message, fix });
  } else if (pairOf(partner) !== node.id) {
    const other = pairOf(partner);
    const message = `it is paired with '${pair}', but '${pair}' is paired with ${other === undefined ? 'nothing' : `'${other}'`}`;
    context.report({ rule: 'pairing', node: node.id, message, fix });
  }
}
