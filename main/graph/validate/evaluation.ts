// Graphs that are evaluated: they need a result, and the verdict must be that of the last iteration.
import { insideLoops, verdictStage } from './after-loop.ts';
import type { RuleContext } from './context.ts';

const verdictPorts: ReadonlySet<unknown> = new Set(['metrics', 'success']);

export function evaluationRules(context: RuleContext): void {
  const { definition, flat } = context;
  if (!definition.eval_graph || definition.kind === 'node') return;
  if (!definition.nodes.some((node) => node.type === 'graphOut')) {
    context.report({
      rule: 'graph-out',
      message: 'an evaluation graph needs at least one graphOut, and this one has none',
      fix: "Add a graphOut with portName 'metrics' fed by the environment's metrics, or set eval_graph to false.",
    });
  }
  const stage = verdictStage(context);
  const inside = insideLoops(context, stage);
  const rootIds = new Set(
    context.forest.scopes.filter((scope) => scope.parentId === null).map((scope) => scope.id),
  );
  for (const node of flat.nodes) {
    if (node.type !== 'graphOut') continue;
    const scope = context.forest.scopeOf(node.id);
    if (!verdictPorts.has(node.config.portName)) {
      if (scope !== null && rootIds.has(scope)) reportUnread(context, node);
      continue;
    }
    if (scope !== null && !rootIds.has(scope)) continue; // the result of an inner loop, not of the graph
    for (const edge of context.incoming.get(node.id) ?? []) {
      if (!inside.has(edge.source) || context.nodes.get(edge.source)?.type === 'iterOut') continue;
      context.report({
        rule: 'verdict-source',
        node: node.id,
        edge,
        message: `'${String(node.config.portName)}' is fed by '${context.pathOf(edge.source)}' inside the loop, so it would hold whichever iteration wrote last`,
        fix: "Carry the value as a port of the iterOut and feed the graphOut from the loop's final side.",
      });
    }
  }
}

/** As in AgentCanvas: what a graphOut inside the loop holds is given to nobody. */
function reportUnread(context: RuleContext, node: RuleContext['flat']['nodes'][number]): void {
  context.report({
    severity: 'warning',
    rule: 'unread-output',
    node: node.id,
    message: `'${String(node.config.portName)}' belongs to the loop, so it is not read as a result`,
    fix: "Carry the value as a port of the iterOut and feed the graphOut from the loop's final side.",
  });
}
