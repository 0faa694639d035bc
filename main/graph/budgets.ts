// How many iterations a loop may run, and how many firings a run may take before it counts as running away.
import { StudioError } from '../base/errors.ts';

export const defaultStepBudget = 1000;

/** A whole number of at least 1. */
export function isBudget(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}

export interface BudgetSources {
  /** From the request, else the env panel for this episode. */
  readonly override: number | undefined;
  readonly graphBudget: number | null | undefined;
}

/** Request, then env panel, then graph, then 1000. */
export function graphStepBudget({ override, graphBudget }: BudgetSources): number {
  const budget = override ?? graphBudget ?? defaultStepBudget;
  if (!isBudget(budget)) {
    throw new StudioError(
      'invalid_input',
      `the step budget must be a whole number of at least 1, got ${budget}`,
    );
  }
  return budget;
}

export interface ScopeShape {
  /** Index of the enclosing scope, or -1. */
  readonly parent: number;
  readonly ownBudget: number | null;
  readonly memberCount: number;
}

/**
 * Budgets by scope. A loop without its own has its parent's, a root loop the graph's. An override of the run counts
 * for root loops even when they carry their own.
 */
export function scopeBudgets(
  scopes: readonly ScopeShape[],
  graphBudget: number,
  overridden: boolean,
): readonly number[] {
  const budgetOf = (scope: ScopeShape | undefined): number => {
    if (!scope) return graphBudget;
    if (scope.parent < 0) return overridden ? graphBudget : (scope.ownBudget ?? graphBudget);
    return scope.ownBudget ?? budgetOf(scopes[scope.parent]);
  };
  return scopes.map(budgetOf);
}

/**
 * Firings after which a run is cut: per scope 3 x members x the product of the budgets along its chain. Nodes outside
 * every loop may hang off the innermost one, so they count with the largest product.
 */
export function firingCap(
  scopes: readonly ScopeShape[],
  budgets: readonly number[],
  outsideCount: number,
  graphBudget: number,
): number {
  const product = (index: number): number => {
    const scope = scopes[index];
    return scope ? (budgets[index] ?? 1) * (scope.parent < 0 ? 1 : product(scope.parent)) : 1;
  };
  const products = scopes.map((_scope, index) => product(index));
  const inside = scopes.reduce(
    (sum, scope, index) => sum + 3 * scope.memberCount * (products[index] ?? 1),
    0,
  );
  return inside + 3 * outsideCount * Math.max(graphBudget, ...products);
}
