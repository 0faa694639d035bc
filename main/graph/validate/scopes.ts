// Loops among each other: they nest or stand apart, and wires between them pass a named boundary.
import type { RuleContext } from './context.ts';

export function scopeRules(context: RuleContext): void {
  for (const problem of context.forest.problems) {
    if (problem.rule === 'unpaired') continue; // the pivot rules report it
    if (problem.rule === 'paired-twice') {
      context.report({
        rule: 'pairing',
        node: problem.nodeId,
        message: problem.message,
        fix: 'Pair every iterIn with exactly one iterOut.',
      });
    } else {
      context.report({
        rule: 'scope-overlap',
        node: problem.nodeId,
        message: problem.message,
        fix: 'Move both pivots of the inner loop into the outer one, or separate the loops: no node may lie in both.',
      });
    }
  }
  checkCrossings(context);
}

function checkCrossings(context: RuleContext): void {
  for (const edge of context.flat.edges) {
    const from = context.forest.scopeOf(edge.source);
    const to = context.forest.scopeOf(edge.target);
    if (from === null || to === null || from === to) continue;
    const leaves = context.nodes.get(edge.source)?.type;
    const enters = context.nodes.get(edge.target)?.type;
    if (leaves === 'graphOut' || leaves === 'iterOut' || enters === 'graphIn' || enters === 'iterIn')
      continue;
    context.report({
      rule: 'scope-crossing',
      node: edge.target,
      edge,
      message: `wire '${edge.id}' goes from the loop '${context.pathOf(from)}' into the loop '${context.pathOf(to)}' past their boundaries`,
      fix: 'Lead it out through a graphOut or the iterOut, or in through a graphIn or the iterIn.',
    });
  }
}
