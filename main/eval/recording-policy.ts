// Which recordings stay: pure decisions over the policy of the run and how an episode ended.
import { stableHash } from '../base/stable-hash.ts';
import type { EvalConfig } from '../contract/eval-config.ts';
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { PlannedEpisode } from '../contract/run.ts';
import { headlineDefinition } from '../stats/aggregate.ts';
import type { AttemptOutcome } from './attempt-row.ts';

export type RecordingPolicy = EvalConfig['recording'];

/** Ordinals whose recordings are wanted whatever comes of them; null = it depends on the outcome or on nothing. */
export function sampledOrdinals(
  policy: RecordingPolicy,
  plan: readonly PlannedEpisode[],
): ReadonlySet<number> | null {
  const count = /^sample:(\d+)$/.exec(policy)?.[1];
  if (count === undefined) return null;
  // By a hash of the key: the same episodes whatever the order, spread over the split.
  const ranked = plan
    .map(({ key, ordinal }) => ({ ordinal, rank: stableHash(['recording', key]) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return new Set(ranked.slice(0, Number(count)).map(({ ordinal }) => ordinal));
}

/** May anything of this episode be kept? If not, nothing of it is even gathered. */
export function isRecorded(
  policy: RecordingPolicy,
  ordinal: number,
  sampled: ReadonlySet<number> | null,
): boolean {
  if (policy === 'none') return false;
  return sampled === null || sampled.has(ordinal);
}

/**
 * A failure is an episode without a verdict, one with node errors, or one whose leading rate has its worst value
 * (success 0). `outcome` is null for an attempt that was ended from outside: by its deadline or its process's death.
 */
export function isFailure(outcome: AttemptOutcome | null, metrics: readonly MetricDefinition[]): boolean {
  if (outcome === null || outcome.status !== 'completed' || outcome.nodeErrors.length > 0) return true;
  const leading = headlineDefinition(metrics);
  if (leading?.kind !== 'rate' || leading.worst === null) return false;
  return outcome.metrics[leading.name] === leading.worst;
}
