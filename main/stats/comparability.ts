// May two runs be compared? Every difference or unknown that would make a paired test misleading is a reason; with
// no reasons they may. Nothing is compared silently.
import type { RunRecord } from '../contract/run.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import { episodeIdentity } from './metric-values.ts';

/** A run as a comparison needs it. */
export interface ComparedRun {
  readonly record: Pick<
    RunRecord,
    | 'runId'
    | 'name'
    | 'envName'
    | 'split'
    | 'config'
    | 'stepBudget'
    | 'perStepBudgetSec'
    | 'plan'
    | 'metrics'
    | 'importedFrom'
  >;
  readonly finals: readonly EpisodeAttempt[];
}

export type ComparabilityKind =
  | 'environment'
  | 'split'
  | 'selectors'
  | 'episodes'
  | 'budget'
  | 'unknown_budget'
  | 'seed'
  | 'unknown_seed'
  | 'partial';

export interface ComparabilityReason {
  readonly runId: string;
  readonly kind: ComparabilityKind;
  readonly message: string;
}

/** Why `other` should not be compared with `baseline` as if nothing were different; empty when it may. */
export function comparabilityReasons(baseline: ComparedRun, other: ComparedRun): ComparabilityReason[] {
  const reasons: ComparabilityReason[] = [];
  const add = (kind: ComparabilityKind, message: string): void =>
    void reasons.push({ runId: other.record.runId, kind, message });
  const a = baseline.record;
  const b = other.record;
  if (a.envName !== b.envName)
    add('environment', `environments differ: ${shown(a.envName)} and ${shown(b.envName)}`);
  if (a.split !== b.split) add('split', `splits differ: ${shown(a.split)} and ${shown(b.split)}`);
  const selectors = differingSelectors(a.config.selectors, b.config.selectors);
  if (selectors.length > 0) add('selectors', `selectors differ: ${selectors.join(', ')}`);
  const overlap = planOverlap(a, b);
  if (overlap.onlyA + overlap.onlyB > 0) {
    add(
      'episodes',
      `episodes differ: ${overlap.common} in common, ${overlap.onlyA} only in the baseline, ${overlap.onlyB} only in the other`,
    );
  }
  addBudgetReasons(a, b, add);
  if (a.importedFrom !== undefined || b.importedFrom !== undefined) {
    add('unknown_seed', 'the seed of an imported run is not known');
  } else if (a.config.seed !== b.config.seed) {
    add('seed', `run seeds differ: ${a.config.seed} and ${b.config.seed}`);
  }
  for (const run of [baseline, other]) {
    const missing = run.record.plan.length - run.finals.length;
    if (missing > 0)
      add('partial', `${missing} of ${run.record.plan.length} episodes of ${run.record.name} are not run`);
  }
  return reasons;
}

function addBudgetReasons(
  a: ComparedRun['record'],
  b: ComparedRun['record'],
  add: (kind: ComparabilityKind, message: string) => void,
): void {
  if (a.stepBudget === null || b.stepBudget === null)
    add('unknown_budget', 'the step budget of a run is not known');
  else if (a.stepBudget !== b.stepBudget)
    add('budget', `step budgets differ: ${a.stepBudget} and ${b.stepBudget}`);
  if (a.perStepBudgetSec !== b.perStepBudgetSec) {
    add('budget', `time per step differs: ${a.perStepBudgetSec} s and ${b.perStepBudgetSec} s`);
  }
}

function shown(value: string | null): string {
  return value ?? 'unknown';
}

/** The split has its own reason, whatever the selector is called. */
function differingSelectors(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): string[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => name !== 'split');
  return names
    .filter((name) => a[name] !== b[name])
    .map((name) => `${name} (${shown(a[name] ?? null)} and ${shown(b[name] ?? null)})`);
}

function planOverlap(
  a: ComparedRun['record'],
  b: ComparedRun['record'],
): { common: number; onlyA: number; onlyB: number } {
  const inA = new Set(a.plan.map(pairKey));
  const inB = new Set(b.plan.map(pairKey));
  const common = inA.intersection(inB).size;
  return { common, onlyA: inA.size - common, onlyB: inB.size - common };
}

/** The same text for the same (episode, repeat) in every run. */
export function pairKey(row: Parameters<typeof episodeIdentity>[0] & { readonly repeat: number }): string {
  return `${episodeIdentity(row)} repeat ${row.repeat}`;
}
