// Node types: removed ones with what replaced them, and those nothing provides.
import { nodesetOf } from '../graph-tools.ts';
import type { RuleContext } from './context.ts';

const removed: Readonly<Record<string, { readonly message: string; readonly fix: string }>> = {
  initialize: {
    message: "the node type 'initialize' was removed",
    fix: "Declare its ports in the iterIn's config.initPorts and wire its inputs to the iterIn's init_<name> handles.",
  },
  termination: {
    message: "the node type 'termination' was removed",
    fix: "Wire the signal that ends the loop to the iterOut's 'stop' port.",
  },
};

export function nodeTypeRules(context: RuleContext): void {
  for (const node of context.flat.nodes) {
    const replaced = Object.hasOwn(removed, node.type) ? removed[node.type] : undefined;
    if (replaced) {
      context.report({ rule: 'removed-node-type', node: node.id, ...replaced });
    } else if (!context.manifests.manifestOf(node.type) && node.type !== 'compositeNode') {
      const nodeset = nodesetOf(node.type);
      context.report({
        rule: 'unknown-node-type',
        node: node.id,
        message: `no loaded nodeset provides the node type '${node.type}'`,
        fix: nodeset
          ? `Load the nodeset '${nodeset}', or replace the node.`
          : 'Replace the node: this is not a built-in type, and types of nodesets read <nodeset>__<tool>.',
      });
    }
  }
}
