// Containers and grants.
import type { RuleContext } from './context.ts';

export function containerRules(context: RuleContext): void {
  const ids = new Set<string>();
  for (const container of context.flat.containers) {
    if (ids.has(container.id)) {
      context.report({
        rule: 'duplicate-id',
        message: `two containers have the id '${container.id}'`,
        fix: 'Give one of them another id and change its grants.',
      });
    }
    ids.add(container.id);
    for (const [name, state] of Object.entries(container.states)) {
      if (state.lifetime !== 'custom' || state.reset_on.length > 0) continue;
      context.report({
        severity: 'warning',
        rule: 'custom-lifetime',
        message: `state '${name}' of container '${container.id}' has a custom lifetime but no signal that resets it`,
        fix: "Name the signals in reset_on, or set the lifetime to 'forever'.",
      });
    }
  }
  for (const grant of context.flat.access_grants) {
    const hasNode = context.nodes.has(grant.node_id);
    if (hasNode && ids.has(grant.container_id)) continue;
    context.report({
      severity: 'warning',
      rule: 'grant',
      ...(hasNode && { node: grant.node_id }),
      message: hasNode
        ? `it is granted the container '${grant.container_id}', which the graph does not have`
        : `a grant of container '${grant.container_id}' names the node '${grant.node_id}', which does not exist`,
      fix: hasNode ? 'Add the container, or remove the grant.' : 'Remove the grant, or correct its node_id.',
    });
  }
}
