// All rules over one graph. Errors block running, never opening or saving; every finding says what to do.
import type { Diagnostic, GraphDefinition } from '../../contract/graph.ts';
import type { ManifestSource } from '../ports.ts';
import { afterLoopRules } from './after-loop.ts';
import { budgetRules } from './budgets.ts';
import { containerRules } from './containers.ts';
import { createContext, type Rule, type ValidationOptions } from './context.ts';
import { evaluationRules } from './evaluation.ts';
import { hookRules } from './hooks.ts';
import { nodeTypeRules } from './node-types.ts';
import { pivotRules } from './pivots.ts';
import { portRules } from './ports.ts';
import { scopeRules } from './scopes.ts';
import { structureRules } from './structure.ts';
import { wireRules } from './wires.ts';

const rules: readonly Rule[] = [
  structureRules,
  nodeTypeRules,
  budgetRules,
  pivotRules,
  portRules,
  wireRules,
  scopeRules,
  afterLoopRules,
  evaluationRules,
  containerRules,
  hookRules,
];

/** Names in a file may be of any length; what is said of them is not. */
const longestMessage = 300;

export function validateGraph(
  definition: GraphDefinition,
  manifests: ManifestSource,
  options: ValidationOptions = {},
): Diagnostic[] {
  const { context, diagnostics } = createContext(definition, manifests, options);
  for (const rule of rules) rule(context);
  return diagnostics.map((finding) =>
    finding.message.length < longestMessage
      ? finding
      : { ...finding, message: `${finding.message.slice(0, longestMessage - 2)}…` },
  );
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((finding) => finding.severity === 'error');
}

export type { ValidationOptions };
