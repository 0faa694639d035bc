// A run's line of History, from its record and its numbers.
import type { RunListItem, RunRecord, RunSummary } from '../contract/run.ts';
import { headlineMetric } from '../stats/aggregate.ts';

export function runListItemOf(record: RunRecord, summary: RunSummary): RunListItem {
  return {
    runId: record.runId,
    name: record.name,
    graphName: record.graphName,
    envName: record.envName,
    split: record.split,
    status: record.status,
    counts: summary.counts,
    headline: headlineMetric(summary),
    workerCount: record.config.workerCount,
    createdAt: record.createdAt,
    finishedAt: record.finishedAt,
    activeMs: record.activeMs,
    tags: record.tags,
    note: record.note,
    parentRun: record.parentRun,
  };
}
