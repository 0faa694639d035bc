// The verdict stage: what hangs on the root loop's final side fires once, after the loop, so nothing inside the loop
// may feed it.
import { sourceHandleOf, reachableFrom, type RuleContext } from './context.ts';

export function afterLoopRules(context: RuleContext): void {
  const { root } = context.forest;
  if (!root) return;
  const stage = verdictStage(context);
  const inside = insideLoops(context, stage);
  for (const nodeId of stage) {
    const scope = context.forest.scopeOf(nodeId);
    if (scope !== null) {
      context.report({
        rule: 'after-loop',
        node: nodeId,
        message: `this node lies inside the loop '${context.pathOf(scope)}' but is fed after the loop '${context.pathOf(root.id)}' has ended`,
        fix: 'The run ends with its first outer loop: put both loops inside one outer loop, or feed this node from elsewhere.',
      });
    }
    for (const edge of context.incoming.get(nodeId) ?? []) {
      if (stage.has(edge.source) || edge.source === root.iterOutId) continue;
      const isInside = inside.has(edge.source);
      context.report({
        severity: isInside ? 'error' : 'warning',
        rule: 'after-loop',
        node: nodeId,
        edge,
        message: `this node runs after the loop, but '${context.pathOf(edge.source)}' feeds it ${isInside ? 'from inside the loop' : 'before the loop'}`,
        fix: `Carry the value as a port of the iterOut and wire its final_<name> handle here instead of '${sourceHandleOf(edge)}'.`,
      });
    }
  }
}

/** Nodes reached from the final side of the loop whose end is the end of the run. */
export function verdictStage(context: RuleContext): ReadonlySet<string> {
  const { root } = context.forest;
  const targets = (nodeId: string): readonly string[] =>
    (context.outgoing.get(nodeId) ?? []).map((edge) => edge.target);
  return root ? reachableFrom(targets(root.iterOutId), targets) : new Set();
}

/** Members of loops and the sinks that hang off them, the verdict stage left out. */
export function insideLoops(context: RuleContext, stage: ReadonlySet<string>): ReadonlySet<string> {
  const { forest } = context;
  const rootOuts = new Set(
    forest.scopes.filter((scope) => scope.parentId === null).map((scope) => scope.iterOutId),
  );
  const members = forest.scopes.flatMap((scope) => [...scope.memberIds]);
  return reachableFrom(members, (nodeId) =>
    rootOuts.has(nodeId)
      ? []
      : (context.outgoing.get(nodeId) ?? [])
          .map((edge) => edge.target)
          .filter((target) => !stage.has(target)),
  );
}
