// How far the run is: one bar by outcome, the counts that always add up, rate and what remains.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a progress element cannot show parts */
import type { RunCounts } from '#contract/run.ts';
import { isActive } from '../../store/run-session.ts';
import { formatCount, formatDuration, formatRate, formatRemaining, formatShare } from '../../ui/format.ts';
import type { LoadedState } from './run-page.tsx';

const segments = [
  { key: 'completed', word: 'completed' },
  { key: 'error', word: 'error' },
  { key: 'timeout', word: 'timeout' },
  { key: 'died', word: 'died' },
  { key: 'noVerdict', word: 'no verdict' },
  { key: 'running', word: 'running' },
] as const satisfies readonly { key: keyof RunCounts; word: string }[];

export function RunProgress({ state }: { readonly state: LoadedState }) {
  const counts = state.summary?.counts;
  if (!counts) return <div className="run-progress" />;
  const { live } = state;
  const done = counts.planned - counts.notRun;
  const elapsedMs = live?.elapsedMs ?? state.record.activeMs;
  const share = formatShare(done, counts.planned);
  return (
    <section className="run-progress" aria-label="Progress">
      <div className="row spread">
        <div className="row">
          <strong className="figures">
            {formatCount(done)} / {formatCount(counts.planned)}
          </strong>
          <span className="muted">{share}</span>
          {state.stage && isActive(state.status) ? <span className="muted clip">{state.stage}</span> : null}
        </div>
        <div className="row muted">
          {isActive(state.status) ? (
            <span className={live?.episodesPerSecond ? 'rate' : 'rate faint'}>
              {live?.episodesPerSecond ? formatRate(live.episodesPerSecond) : 'no rate yet'}
            </span>
          ) : null}
          {live?.remainingMs ? <span className="rate">{formatRemaining(live.remainingMs)} left</span> : null}
          <span className="rate">
            {formatDuration(elapsedMs)} {isActive(state.status) ? 'elapsed' : 'at work'}
          </span>
        </div>
      </div>
      <div
        className="bar"
        role="progressbar"
        aria-label="Episodes done"
        aria-valuemin={0}
        aria-valuemax={counts.planned}
        aria-valuenow={done}
        aria-valuetext={`${formatCount(done)} of ${formatCount(counts.planned)} episodes`}
      >
        {segments.map(({ key }) =>
          counts[key] > 0 ? (
            <span key={key} className={`part ${key}`} style={{ flexGrow: counts[key] }} />
          ) : null,
        )}
        <span className="part rest" style={{ flexGrow: Math.max(0, counts.notRun - counts.running) }} />
      </div>
      <ul className="legend">
        {segments.map(({ key, word }) => (
          <li key={key} className={counts[key] === 0 ? 'none' : ''}>
            <span className={`swatch ${key}`} aria-hidden="true" />
            {word} <span className="figures">{formatCount(counts[key])}</span>
          </li>
        ))}
        <li>
          <span className="swatch rest" aria-hidden="true" />
          not run <span className="figures">{formatCount(counts.notRun)}</span>
        </li>
        {counts.retried > 0 ? (
          <li>
            retried <span className="figures">{formatCount(counts.retried)}</span>
          </li>
        ) : null}
      </ul>
    </section>
  );
}
