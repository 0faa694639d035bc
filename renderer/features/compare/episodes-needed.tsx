// How many more episodes would show a difference of a given size.
import { useId, useState } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount } from '../../ui/format.ts';
import { useDebounced } from '../../ui/use-debounced.ts';
import { useLoad } from '../../ui/use-request.ts';
import { differenceUnitOf, scaleOf } from './difference-text.ts';
import type { PairView } from './pair.ts';

const typingMs = 300;
const powers = [0.8, 0.9, 0.95] as const;

export function EpisodesNeeded({ pair }: { readonly pair: PairView }) {
  const { client } = useStudio();
  const { comparison, baseline, other } = pair;
  const id = useId();
  const [name, setName] = useState(pair.metric?.name ?? '');
  const [typed, setTyped] = useState('');
  const [power, setPower] = useState<number>(0.8);
  const metric = comparison.sharedMetrics.find((candidate) => candidate.name === name) ?? pair.metric;
  const scale = metric ? scaleOf(metric) : 1;
  const seen = comparison.metrics.find(
    (row) => row.runId === other.runId && row.metric.name === metric?.name,
  );
  const suggestion = seen?.difference ? Math.abs(seen.difference) * scale : 5;
  const wanted = typed === '' ? Number(suggestion.toPrecision(3)) : Number(typed.replace(',', '.'));
  const difference = useDebounced(wanted / scale, typingMs);
  const isUsable = metric !== null && Number.isFinite(difference) && difference > 0;
  const answer = useLoad(
    isUsable ? `${baseline.runId} ${other.runId} ${name} ${difference} ${power}` : null,
    (signal) =>
      client.request(
        'runs.episodesNeeded',
        { runId: baseline.runId, otherRun: other.runId, metric: metric?.name ?? '', difference, power },
        signal,
      ),
  );
  if (!metric) return null;
  return (
    <section className="needed" aria-label="How many more episodes">
      <h2>How many more episodes?</h2>
      <div className="row wrap">
        <label htmlFor={`${id}-metric`}>To see a difference in</label>
        <select
          id={`${id}-metric`}
          className="select small-select"
          value={metric.name}
          onChange={(event) => {
            setName(event.target.value);
            setTyped('');
          }}
        >
          {comparison.sharedMetrics.map((option) => (
            <option key={option.name}>{option.name}</option>
          ))}
        </select>
        <label htmlFor={`${id}-size`}>of</label>
        <input
          id={`${id}-size`}
          className="input number"
          inputMode="decimal"
          aria-invalid={!(wanted > 0)}
          value={typed === '' ? String(wanted) : typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <span>{differenceUnitOf(metric)}</span>
        <label htmlFor={`${id}-power`}>with a power of</label>
        <select
          id={`${id}-power`}
          className="select small-select"
          value={power}
          onChange={(event) => setPower(Number(event.target.value))}
        >
          {powers.map((option) => (
            <option key={option} value={option}>
              {option * 100} %
            </option>
          ))}
        </select>
      </div>
      {answer.error ? <ErrorCallout error={answer.error} /> : null}
      <output className="stack">
        {!isUsable ? <span className="problem">A difference above 0 is needed.</span> : null}
        {answer.value ? (
          <>
            <span>
              {answer.value.needed === null ? (
                'No number of episodes would show it, or there are too few values to tell.'
              ) : (
                <>
                  <strong className="figures">{formatCount(answer.value.needed)}</strong> pairs are needed;{' '}
                  {formatCount(answer.value.have)} are there
                  {answer.value.more === 0 || answer.value.more === null
                    ? ': enough.'
                    : `, ${formatCount(answer.value.more)} more.`}
                </>
              )}
            </span>
            <span className="small muted">{answer.value.method}</span>
          </>
        ) : null}
      </output>
    </section>
  );
}
