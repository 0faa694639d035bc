// Counts and warnings of a run, kept up to date one final row at a time at O(metrics) each. The same facts serve
// the live numbers and the final summary.
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { ChatUsage } from '../contract/chat.ts';
import { addedUsage, noUsage } from '../contract/chat-usage.ts';
import type { EpisodeAttempt, RunCounts, RunSummary } from '../contract/run.ts';
import { FailureReasons } from './failure-reasons.ts';
import { completedReading } from './metric-values.ts';

type RunFlag = RunSummary['flags'][number];

interface MetricFacts {
  measured: number;
  nonFinite: number;
  low: number;
  high: number;
}

interface Mean {
  n: number;
  sum: number;
}

export interface RunFacts {
  add(row: EpisodeAttempt): void;
  /** Of any attempt on record, final or not. */
  spend(usage: ChatUsage | null | undefined): void;
  /** Null when nothing was asked of language models. */
  usage(): ChatUsage | null;
  counts(planned: number, running: number): RunCounts;
  /** Episodes with a measured value. */
  measured(metric: string): number;
  /** Episodes started and not cancelled. */
  started(): number;
  meanSteps(): number | null;
  meanDurationMs(): number | null;
  flags(): RunFlag[];
}

const constantFrom = 20;
const retriedShareLimit = 0.01;
/** A difference in mean length worth a warning, and how many episodes of each kind it takes. */
const lengthBiasRatio = 1.25;
const lengthBiasFrom = 5;

export function createRunFacts(definitions: readonly MetricDefinition[]): RunFacts {
  const outcomes = { completed: 0, error: 0, timeout: 0, died: 0, no_verdict: 0 };
  const metrics = new Map<string, MetricFacts>(
    definitions.map(({ name }) => [name, { measured: 0, nonFinite: 0, low: Infinity, high: -Infinity }]),
  );
  const budgets = new Set<number>();
  const reasons = new FailureReasons();
  const completedSteps: Mean = { n: 0, sum: 0 };
  const failedSteps: Mean = { n: 0, sum: 0 };
  const duration: Mean = { n: 0, sum: 0 };
  let retried = 0;
  let usage: ChatUsage | null = null;
  const started = (): number => Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  return {
    add(row) {
      outcomes[row.status]++;
      reasons.add(row);
      if (row.attempt > 1) retried++;
      budgets.add(row.stepBudget);
      const finished = row.status === 'completed';
      addTo(finished ? completedSteps : failedSteps, row.steps);
      if (finished) addTo(duration, row.durationMs);
      for (const [name, facts] of metrics) addReading(facts, completedReading(row, name));
    },
    spend(spent) {
      if (spent) usage = addedUsage(usage ?? noUsage, spent);
    },
    usage: () => usage,
    counts: (planned, running) => ({
      planned,
      completed: outcomes.completed,
      error: outcomes.error,
      timeout: outcomes.timeout,
      died: outcomes.died,
      noVerdict: outcomes.no_verdict,
      notRun: Math.max(0, planned - started()),
      running,
      retried,
    }),
    measured: (metric) => metrics.get(metric)?.measured ?? 0,
    started,
    meanSteps: () => meanOf(completedSteps),
    meanDurationMs: () => meanOf(duration),
    flags: () => [
      ...reasons.flags(outcomes.completed),
      ...definitions.flatMap((definition) =>
        metricFlags(definition, metrics.get(definition.name), started()),
      ),
      ...lengthFlag(completedSteps, failedSteps),
      ...retriedFlag(retried, started()),
      ...budgetFlag(budgets),
    ],
  };
}

/** Absent where no language model was asked, so that other summaries stay as they were. */
export function usageMember(usage: ChatUsage | null): Pick<RunSummary, 'usage'> {
  return usage ? { usage } : {};
}

function addTo(mean: Mean, value: number): void {
  mean.n++;
  mean.sum += value;
}

function meanOf(mean: Mean): number | null {
  return mean.n === 0 ? null : mean.sum / mean.n;
}

function addReading(facts: MetricFacts, reading: ReturnType<typeof completedReading>): void {
  if (reading === null) return;
  facts.measured++;
  if (reading === 'non_finite') {
    facts.nonFinite++;
    return;
  }
  facts.low = Math.min(facts.low, reading);
  facts.high = Math.max(facts.high, reading);
}

function metricFlags(definition: MetricDefinition, facts: MetricFacts | undefined, of: number): RunFlag[] {
  if (!facts) return [];
  const { name: metric, worst, higherIsBetter } = definition;
  const finite = facts.measured - facts.nonFinite;
  const flags: RunFlag[] = [];
  const flag = (kind: string, message: string): void => void flags.push({ kind, metric, message });
  if (finite >= constantFrom && facts.low === facts.high) {
    flag(
      'constant',
      `${metric} is ${facts.low} in all ${finite} measured episodes; if that surprises you, look at how it is computed`,
    );
  }
  if (facts.measured < of) {
    const share = percent((of - facts.measured) / of);
    flag('unmeasured', `${metric} was measured in ${facts.measured} of ${of} episodes (${share} not)`);
  }
  if (facts.nonFinite > 0) {
    flag(
      'non_finite',
      `${metric} is not a finite number in ${facts.nonFinite} episodes; means leave them out`,
    );
  }
  const beyond =
    higherIsBetter === null || worst === null
      ? false
      : higherIsBetter
        ? facts.low < worst
        : facts.high > worst;
  if (finite > 0 && beyond) {
    flag(
      'worst_exceeded',
      `${metric} goes beyond its declared worst value ${worst}: failures count as too little`,
    );
  }
  return flags;
}

function lengthFlag(completed: Mean, failed: Mean): RunFlag[] {
  const finishedMean = meanOf(completed);
  const failedMean = meanOf(failed);
  if (finishedMean === null || failedMean === null) return [];
  if (completed.n < lengthBiasFrom || failed.n < lengthBiasFrom) return [];
  const longer = Math.max(finishedMean, failedMean);
  if (longer < lengthBiasRatio * Math.min(finishedMean, failedMean)) return [];
  const message =
    `episodes without a verdict ran ${failedMean.toFixed(0)} steps on average, completed ones ` +
    `${finishedMean.toFixed(0)}: means over completed episodes are biased by length`;
  return [{ kind: 'length_bias', metric: null, message }];
}

function retriedFlag(retried: number, started: number): RunFlag[] {
  if (started === 0 || retried / started <= retriedShareLimit) return [];
  const message = `${retried} of ${started} episodes (${percent(retried / started)}) needed more than one attempt`;
  return [{ kind: 'retried', metric: null, message }];
}

function budgetFlag(budgets: ReadonlySet<number>): RunFlag[] {
  if (budgets.size < 2) return [];
  const shown = [...budgets].sort((a, b) => a - b).slice(0, 5);
  const more = budgets.size > shown.length ? ' …' : '';
  return [
    {
      kind: 'budgets',
      metric: null,
      message: `step budgets differ between episodes: ${shown.join(', ')}${more}`,
    },
  ];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
