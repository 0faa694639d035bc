// How batched nodes gather calls: batch sizes, wait, forward time. Only there when such nodes are.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- the bars together are the picture */
import type { BatchView } from '#contract/run.ts';
import { formatCount, formatDecimal, formatDuration } from '../../ui/format.ts';

export function BatchStrip({ batches }: { readonly batches: readonly BatchView[] }) {
  return (
    <section className="batches" aria-label="Batched nodes">
      {batches.map((batch) => {
        const mean = batch.batches > 0 ? batch.samples / batch.batches : 0;
        const greatest = Math.max(1, ...batch.sizes);
        return (
          <div key={batch.key} className="batch">
            <span className="clip batch-name">{batch.nodePath}</span>
            <span className="batch-sizes" role="img" aria-label={sizesText(batch)}>
              {batch.sizes.map((count, at) => (
                // A size's bar never changes its place.
                // oxlint-disable-next-line react/no-array-index-key
                <span
                  key={at}
                  title={`size ${at + 1}: ${formatCount(count)}`}
                  style={{ height: `${Math.max(4, (count / greatest) * 100)}%` }}
                />
              ))}
            </span>
            <Fact name="mean batch" value={formatDecimal(mean, 1)} />
            <Fact name="wait p50 / p95" value={pairOf(batch.waitMs)} />
            <Fact name="forward p50 / p95" value={pairOf(batch.forwardMs)} />
            <Fact
              name="samples/s"
              value={batch.samplesPerSecond === null ? '–' : formatDecimal(batch.samplesPerSecond, 0)}
            />
            <Fact name="waiting" value={`${batch.waiting} of ${batch.callers}`} />
          </div>
        );
      })}
    </section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <span className="batch-fact">
      <span className="faint small">{name}</span>
      <span className="figures">{value}</span>
    </span>
  );
}

const pairOf = (times: BatchView['waitMs']): string =>
  times === null ? '–' : `${formatDuration(times.median)} / ${formatDuration(times.p95)}`;

function sizesText(batch: BatchView): string {
  const parts = batch.sizes.flatMap((count, at) => (count > 0 ? [`${count} of size ${at + 1}`] : []));
  return parts.length > 0 ? `Batches: ${parts.join(', ')}` : 'No batch yet';
}
