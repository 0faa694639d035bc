// The open episode: result, metrics, error with its last words, every attempt, and the raw record.
import { ChevronLeft, ChevronRight, CirclePlay, RotateCcw, Workflow, X } from 'lucide-react';
import { useState } from 'react';
import type { MetricDefinition } from '#contract/nodeset.ts';
import type { EpisodeAttempt, EpisodeRow } from '#contract/run.ts';
import { formatAddress, home } from '../../store/address.ts';
import type { RunSession } from '../../store/run-session.ts';
import { useCommand, useStudio } from '../../store/use-studio.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatDate, formatDuration, formatMetricValue, formatWord } from '../../ui/format.ts';
import { Skeleton } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { Tip } from '../../ui/tip.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { useLoad } from '../../ui/use-request.ts';
import type { LoadedState } from './run-page.tsx';
import { useRunAgain } from './use-run-again.ts';
import { TextBlock } from '../../ui/text-block.tsx';

export interface EpisodeDetailProps {
  readonly session: RunSession;
  readonly state: LoadedState;
  readonly ordinal: number;
  readonly row: EpisodeRow | undefined;
  readonly onStep: (by: 1 | -1) => void;
  readonly onClose: () => void;
}

const settleMs = 120;

export function EpisodeDetail({ session, state, ordinal, row, onStep, onClose }: EpisodeDetailProps) {
  const { client } = useStudio();
  const again = useRunAgain(state.record);
  const settled = useDebounced(`${ordinal} ${row?.attempts ?? 0} ${row?.status ?? ''}`, settleMs);
  const attempts = useLoad(`${session.runId} ${settled}`, async (signal) => {
    const read = await client.request(
      'runs.attempts',
      { runId: session.runId, ordinal: Number.parseInt(settled, 10) },
      signal,
    );
    return read.attempts;
  });
  useCommand('detail.previous', () => onStep(-1));
  useCommand('detail.next', () => onStep(1));
  return (
    <aside className="detail" aria-label="Episode">
      <header className="row spread">
        <h2 className="clip">Episode {row?.episodeId ?? row?.episodeIndex ?? ordinal}</h2>
        <div className="row tight">
          <Tip text="Previous episode" command="detail.previous">
            <button
              type="button"
              className="button plain icon"
              aria-label="Previous episode"
              onClick={() => onStep(-1)}
            >
              <ChevronLeft size={15} aria-hidden="true" />
            </button>
          </Tip>
          <Tip text="Next episode" command="detail.next">
            <button
              type="button"
              className="button plain icon"
              aria-label="Next episode"
              onClick={() => onStep(1)}
            >
              <ChevronRight size={15} aria-hidden="true" />
            </button>
          </Tip>
          <Tip text="Close" command="back">
            <button type="button" className="button plain icon" aria-label="Close episode" onClick={onClose}>
              <X size={15} aria-hidden="true" />
            </button>
          </Tip>
        </div>
      </header>
      {row ? <RowFacts row={row} state={state} /> : <Skeleton lines={5} label="Reading the episode" />}
      {row && row.status !== 'pending' && row.status !== 'running' ? (
        <div className="row wrap">
          <a
            className="button"
            href={formatAddress({ ...home, page: 'replay', run: session.runId, episode: ordinal })}
          >
            <CirclePlay size={13} aria-hidden="true" />
            Open replay
          </a>
          <a
            className="button"
            href={formatAddress({ ...home, page: 'canvas', run: session.runId, episode: ordinal })}
          >
            <Workflow size={13} aria-hidden="true" />
            Open on the canvas
          </a>
          <button
            type="button"
            className="button"
            disabled={again.action.isBusy}
            onClick={() => again.run([row])}
          >
            <RotateCcw size={13} aria-hidden="true" />
            Run this again as a new run
          </button>
        </div>
      ) : null}
      {again.action.error ? <ErrorCallout title="The run did not start." error={again.action.error} /> : null}
      {attempts.error ? (
        <ErrorCallout title="The attempts could not be read." error={attempts.error}>
          <button type="button" className="button" onClick={attempts.reload}>
            Try again
          </button>
        </ErrorCallout>
      ) : null}
      {attempts.value === null && attempts.isLoading ? (
        <Skeleton lines={4} label="Reading the attempts" />
      ) : null}
      {(attempts.value ?? []).toReversed().map((attempt) => (
        <Attempt key={`${attempt.attempt} ${attempt.epoch}`} attempt={attempt} />
      ))}
      {attempts.value?.length === 0 ? <p className="muted">Not tried yet.</p> : null}
    </aside>
  );
}

function RowFacts({ row, state }: { readonly row: EpisodeRow; readonly state: LoadedState }) {
  return (
    <>
      <dl className="facts">
        <dt>Status</dt>
        <dd className="row wrap">
          <Status status={row.status} />
          {row.limit ? <Status status="limit" word={`${formatWord(row.limit)} reached`} /> : null}
        </dd>
        <dt>Scene</dt>
        <dd>{row.sceneId ?? '–'}</dd>
        <dt>Instruction</dt>
        <dd>{row.instruction === null ? '–' : <Clamped text={row.instruction} />}</dd>
        <dt>Steps</dt>
        <dd>{row.steps ?? '–'}</dd>
        <dt>Time</dt>
        <dd>{formatDuration(row.durationMs)}</dd>
        {state.record.config.repeats > 1 ? (
          <>
            <dt>Repeat</dt>
            <dd>{row.repeat}</dd>
          </>
        ) : null}
      </dl>
      {state.record.metrics.length > 0 ? (
        <dl className="facts metric-facts">
          {state.record.metrics.map((metric) => (
            <MetricFact key={metric.name} metric={metric} value={row.metrics[metric.name]} />
          ))}
        </dl>
      ) : null}
    </>
  );
}

function MetricFact({
  metric,
  value,
}: {
  readonly metric: MetricDefinition;
  readonly value: EpisodeRow['metrics'][string] | undefined;
}) {
  const { text, kind } = formatMetricValue(value, metric);
  return (
    <>
      <dt>{metric.name}</dt>
      <dd className="figures">
        {kind === 'not_measured' ? <span className="faint">not measured</span> : text}
        {kind === 'value' && metric.unit ? <span className="faint"> {metric.unit}</span> : null}
      </dd>
    </>
  );
}

const clampAt = 220;

/** Long text is cut, with a button to see all of it. */
export function Clamped({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= clampAt || isWhole) return <span className="words">{text}</span>;
  return (
    <span className="words">
      {text.slice(0, clampAt)}…{' '}
      <button type="button" className="link" onClick={() => setWhole(true)}>
        Show all
      </button>
    </span>
  );
}

function Attempt({ attempt }: { readonly attempt: EpisodeAttempt }) {
  const raw = JSON.stringify(attempt, null, 2);
  const { error } = attempt;
  // The error of the attempt is that of the node it failed in.
  const nodeErrors = attempt.nodeErrors.filter(
    ({ message, step }) => step !== error?.scope.step || !error.message.includes(message),
  );
  return (
    <section className="attempt" aria-label={`Attempt ${attempt.attempt}`}>
      <div className="row spread">
        <h3>
          Attempt {attempt.attempt}
          {attempt.final ? '' : ', not counted'}
        </h3>
        <Status status={attempt.status} />
      </div>
      <div className="small muted">
        {formatDate(attempt.startedAt)}, worker {attempt.worker}
        {attempt.replica ? ` (${attempt.replica})` : ''}, {formatDuration(attempt.durationMs)},{' '}
        {attempt.steps} of {attempt.stepBudget} steps, seed {attempt.seed}
      </div>
      {error ? (
        <div className="attempt-error">
          <Clamped text={error.message} />
          <div className="small muted">
            <code>{error.code}</code>
            {error.scope.phase ? `, in ${error.scope.phase}` : ''}
            {error.scope.step === undefined ? '' : `, step ${error.scope.step}`}
            {error.scope.nodePath ? `, ${error.scope.nodePath}` : ''}
            {error.signal ? `, ${error.signal}` : ''}
            {error.exitCode === undefined || error.exitCode === null ? '' : `, exit code ${error.exitCode}`}
          </div>
          {error.stderrTail && error.stderrTail.length > 0 ? (
            <TextBlock label="Last error output">{error.stderrTail.join('\n')}</TextBlock>
          ) : null}
        </div>
      ) : null}
      {nodeErrors.length > 0 ? (
        <ul className="small">
          {nodeErrors.map((nodeError) => (
            <li key={`${nodeError.step} ${nodeError.nodePath} ${nodeError.message}`}>
              Step {nodeError.step}, <code>{nodeError.nodePath}</code>: {nodeError.message}
            </li>
          ))}
        </ul>
      ) : null}
      <details>
        <summary className="small">Raw JSON</summary>
        <div className="row spread">
          <span />
          <CopyButton text={raw} label="Copy raw JSON" />
        </div>
        <TextBlock label="Raw JSON">{raw}</TextBlock>
      </details>
    </section>
  );
}
