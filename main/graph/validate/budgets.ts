// Step budgets: whole numbers of at least 1, on the graph and on every loop.
import { isBudget } from '../budgets.ts';
import type { RuleContext } from './context.ts';

export function budgetRules(context: RuleContext): void {
  const { definition } = context;
  for (const [field, value] of [
    ['step_budget', definition.step_budget],
    ['maxIterations', definition.maxIterations],
  ] as const) {
    if (value != null && !isBudget(value)) reportBudget(context, field, value);
  }
  for (const node of context.flat.nodes) {
    const value = node.config.step_budget;
    if (node.type === 'iterIn' && value != null && !isBudget(value))
      reportBudget(context, 'step_budget', value, node.id);
  }
}

function reportBudget(context: RuleContext, field: string, value: unknown, node?: string): void {
  context.report({
    rule: 'budget',
    ...(node !== undefined && { node }),
    message: `${field} is ${JSON.stringify(value)}; a budget is a whole number of at least 1`,
    fix:
      node === undefined
        ? 'Set it to the steps one episode may take, or remove it.'
        : 'Correct it, or remove it: the loop then has the budget of what encloses it.',
  });
}
