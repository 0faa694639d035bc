// Numbers and runs as text for people. Not measured, 0 and an error never look alike.
import type { ChatUsage } from '../../contract/chat.ts';
import type {
  Estimate,
  MetricSummary,
  RunCounts,
  RunListItem,
  RunSummary,
  WorkerView,
} from '../../contract/run.ts';
import type { LiveRun } from '../../contract/requests.ts';

export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (milliseconds < 9950) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours > 0
    ? `${hours} h ${String(minutes).padStart(2, '0')} min`
    : `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** `No key for x. Set it with …`: two sentences, whatever the first one ends with. */
export function withAdvice(message: string, advice: string): string {
  const said = message.trimEnd();
  if (advice === '') return said;
  return /[.!?:]$/.test(said) ? `${said} ${advice}` : `${said}. ${advice}`;
}

export function number(value: number | null): string {
  if (value === null) return 'not measured';
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  return Math.abs(value) >= 1000 ? value.toFixed(1) : value.toFixed(Math.abs(value) >= 100 ? 2 : 3);
}

/** The estimate that leads: over all started, or over completed where a failure has no known value. */
export function headline(metric: MetricSummary): Estimate {
  return metric.headline === 'started' && metric.started ? metric.started : metric.completed;
}

export function metricLine(metric: MetricSummary): string {
  const estimate = headline(metric);
  const { definition } = metric;
  const isRate = definition.kind === 'rate';
  const show = (value: number | null): string =>
    value !== null && isRate ? `${(value * 100).toFixed(1)} %` : number(value);
  const interval = estimate.low === null ? '' : `  [${show(estimate.low)}, ${show(estimate.high)}]`;
  const unit = definition.unit && !isRate ? ` ${definition.unit}` : '';
  const scope = metric.headline === 'completed_only' ? ', completed only' : '';
  return `${definition.name}  ${show(estimate.mean)}${estimate.mean === null ? '' : unit}${interval}  n = ${estimate.n}${scope}${metric.partial ? ', partial' : ''}`;
}

export function countsLine(counts: RunCounts): string {
  const parts = [
    [counts.completed, 'completed'],
    [counts.error, 'error'],
    [counts.timeout, 'timeout'],
    [counts.died, 'died'],
    [counts.noVerdict, 'no verdict'],
    [counts.notRun, 'not run'],
  ] as const;
  const shown = parts
    .filter(([count], index) => index === 0 || count > 0)
    .map(([count, word]) => `${count} ${word}`);
  return `${counts.planned} planned = ${shown.join(' + ')}`;
}

export function summaryLines({ counts, metrics, flags, usage }: RunSummary): string[] {
  const nothing = flags.filter(({ kind }) => kind === 'all_failed');
  return [
    countsLine(counts),
    ...nothing.map((flag) => `! ${flag.message}`),
    ...metrics.map(metricLine),
    ...(usage ? [usageLine(usage)] : []),
    ...flags.filter((flag) => !nothing.includes(flag)).map((flag) => `! ${flag.message}`),
  ];
}

/** `language models: 50 calls, 550 + 350 tokens, $0.00125 (m1)` */
export function usageLine(usage: ChatUsage): string {
  const known = (value: number | null): string => (value === null ? 'unknown' : value.toLocaleString('en'));
  const cost = usage.costUsd === null ? 'cost unknown' : `$${Number(usage.costUsd.toPrecision(4))}`;
  const extras = [
    [usage.failed, 'failed'],
    [usage.retries, 'tried again'],
    [usage.replayed, 'from recorded replies'],
  ] as const;
  const told = extras.filter(([count]) => count > 0).map(([count, word]) => `, ${count} ${word}`);
  return `language models: ${known(usage.calls)} calls${told.join('')}, ${known(usage.inputTokens)} input and ${known(usage.outputTokens)} output tokens, ${cost} (${usage.models.join(', ')})`;
}

export function progressLines(live: LiveRun, columns: number): string[] {
  const { counts } = live.summary;
  const done = counts.planned - counts.notRun;
  const width = Math.max(10, Math.min(40, columns - 60));
  const filled = counts.planned === 0 ? 0 : Math.floor((done / counts.planned) * width);
  const rate = live.episodesPerSecond === null ? '' : `  ${live.episodesPerSecond.toFixed(1)}/s`;
  const remaining =
    live.remainingMs === null
      ? ''
      : `  ${duration(live.remainingMs.low)} to ${duration(live.remainingMs.high)} left`;
  const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
  return [
    `${bar}  ${done}/${counts.planned}${rate}${remaining}${live.stage ? `  ${live.stage}` : ''}`,
    ...live.summary.metrics.slice(0, 4).map((metric) => `  ${metricLine(metric)}`),
    ...live.workers.slice(0, 8).map(workerLine),
  ];
}

export function workerLine(worker: WorkerView): string {
  const episode = worker.ordinal === null ? '' : `  episode ${worker.episodeId ?? worker.ordinal}`;
  const steps =
    worker.ordinal === null
      ? ''
      : `  step ${worker.step}${worker.stepBudget === null ? '' : ` of ${worker.stepBudget}`}`;
  const memory = worker.rssBytes === null ? '' : `  ${Math.round(worker.rssBytes / 2 ** 20)} MB`;
  return `  worker ${worker.worker}  ${worker.phase}${episode}${steps}${memory}`;
}

export function runRow(item: RunListItem): string[] {
  const { counts, headline: metric } = item;
  return [
    item.runId,
    item.graphName,
    item.split ?? '',
    item.status,
    `${counts.planned - counts.notRun}/${counts.planned}`,
    metric ? metricLine(metric).replace(/\s{2,}n = .*$/, '') : '',
    duration(item.activeMs),
    String(item.workerCount),
    item.tags.join(','),
  ];
}
