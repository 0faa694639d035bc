// One card per metric of the environment: the leading number with its interval, how much of the run it covers, and
// what a reader should know before trusting it.
import { ArrowDown, ArrowUp, TriangleAlert } from 'lucide-react';
import type { MetricSummary, RunSummary } from '#contract/run.ts';
import { formatCost, formatCount, formatEstimate } from '../../ui/format.ts';

export function MetricCards({ summary }: { readonly summary: RunSummary }) {
  const general = summary.flags.filter((flag) => flag.metric === null);
  if (summary.metrics.length === 0) return <p className="muted padded">No metric has a value yet.</p>;
  const { planned, notRun } = summary.counts;
  return (
    <section aria-label="Metrics">
      {notRun > 0 ? (
        <p className="partial small muted">
          <span className="chip">partial</span> {formatCount(planned - notRun)} of {formatCount(planned)} run
        </p>
      ) : null}
      <ul className="cards">
        {summary.metrics.map((metric) => (
          <MetricCard
            key={metric.definition.name}
            metric={metric}
            flags={summary.flags
              .filter((flag) => flag.metric === metric.definition.name)
              .map((flag) => flag.message)}
          />
        ))}
      </ul>
      <UsageLine usage={summary.usage} />
      {general.length > 0 ? (
        <ul className="flags">
          {general.map((flag) => (
            <li key={flag.kind}>
              <TriangleAlert size={13} aria-hidden="true" /> {flag.message}
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

/** What language models used, beside the metrics: it is no metric of the environment. */
function UsageLine({ usage }: { readonly usage: RunSummary['usage'] }) {
  if (!usage) return null;
  const known = (tokens: number | null): string => (tokens === null ? 'unknown' : formatCount(tokens));
  const facts: readonly (readonly [string, string])[] = [
    ['Models', usage.models.join(', ')],
    ['Calls', formatCount(usage.calls)],
    ['Input tokens', known(usage.inputTokens)],
    ['Output tokens', known(usage.outputTokens)],
    ['Cost', usage.costUsd === null ? 'unknown' : `$${formatCost(usage.costUsd)}`],
    ['Tried again', formatCount(usage.retries)],
    ['Failed', formatCount(usage.failed)],
    ['From recorded replies', formatCount(usage.replayed)],
  ];
  return (
    <dl className="facts usage" aria-label="Language models">
      {facts.map(([name, value]) =>
        value === '0' && name !== 'Calls' ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function MetricCard({
  metric,
  flags,
}: {
  readonly metric: MetricSummary;
  readonly flags: readonly string[];
}) {
  const { definition } = metric;
  const isCompletedOnly = metric.headline === 'completed_only' || metric.started === null;
  const leading = isCompletedOnly ? metric.completed : (metric.started ?? metric.completed);
  const text = formatEstimate(leading, definition);
  const completed = formatEstimate(metric.completed, definition);
  const differs = !isCompletedOnly && metric.completed.n !== leading.n;
  const isPartlyMeasured = metric.measured < metric.of;
  return (
    <li className="card">
      <div className="card-name" title={definition.name}>
        <span className="clip">{definition.name}</span>
        <Direction higherIsBetter={definition.higherIsBetter} />
      </div>
      <div className="card-value">
        {text.value}
        {leading.mean !== null && text.unit ? <span className="unit">{text.unit}</span> : null}
      </div>
      <div className="card-line">
        {text.interval ? (
          <span title={`95 % interval, ${leading.method}`}>{text.interval}</span>
        ) : (
          <span className="faint">no interval</span>
        )}
      </div>
      <div
        className="card-line faint"
        title={`${formatCount(metric.measured)} of ${formatCount(metric.of)} started episodes measured`}
      >
        {isPartlyMeasured ? `${formatCount(metric.measured)} / ${formatCount(metric.of)}` : `n = ${text.n}`}
      </div>
      <div className="card-line faint">
        {isCompletedOnly ? 'completed only' : differs ? `completed ${completed.value}` : ''}
      </div>
      {leading.nonFinite > 0 ? (
        <div className="card-flag">{formatCount(leading.nonFinite)} not finite, left out</div>
      ) : null}
      {flags.map((flag) => (
        <div key={flag} className="card-flag" title={flag}>
          <TriangleAlert size={12} aria-hidden="true" /> {flag}
        </div>
      ))}
    </li>
  );
}

function Direction({ higherIsBetter }: { readonly higherIsBetter: boolean | null }) {
  if (higherIsBetter === null) return null;
  const Arrow = higherIsBetter ? ArrowUp : ArrowDown;
  return (
    <>
      <Arrow size={11} aria-hidden="true" />
      <span className="visually-hidden">{higherIsBetter ? 'higher is better' : 'lower is better'}</span>
    </>
  );
}
