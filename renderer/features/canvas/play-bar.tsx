// Play, pause, step, stop and what became of it, in one line above the canvas.
import { CirclePause, LoaderCircle, Pause, Play, SkipForward, Square, StepForward } from 'lucide-react';
import type { PlayView } from '#contract/play.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useCommand, useStudioState } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCost, formatPlural } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { Tip } from '../../ui/tip.tsx';
import { TrustButtons } from '../../ui/trust-buttons.tsx';
import { formatMs } from './format-ms.ts';
import type { PlayControls } from './use-play.ts';

export function PlayBar({ controls }: { readonly controls: PlayControls }) {
  const { view, isMine, isLive, blocked, action } = controls;
  const status = view?.status ?? 'idle';
  const isRunning = status === 'running';
  const isPaused = status === 'paused';
  const canStart = blocked === null && !isLive;
  const canPlay = isMine && (isRunning || isPaused) ? true : canStart;
  const canStep = isMine && isPaused ? true : canStart;
  useCommand('canvas.play', canPlay ? controls.play : null);
  useCommand('canvas.stepFiring', canStep ? () => controls.step('firing') : null);
  useCommand('canvas.stepIteration', canStep ? () => controls.step('iteration') : null);
  useCommand('canvas.stop', isLive ? controls.stop : null);
  const Icon = isRunning ? Pause : Play;
  const word = isRunning ? 'Pause' : isPaused ? 'Resume' : 'Play';
  return (
    <div className="play-bar" role="toolbar" aria-label="Play">
      <Tip
        text={isRunning ? 'Pause before the next firing' : isPaused ? 'Go on' : 'Run this graph once'}
        command="canvas.play"
      >
        <button type="button" className="button primary play" disabled={!canPlay} onClick={controls.play}>
          <Icon size={14} aria-hidden="true" />
          {word}
        </button>
      </Tip>
      <Tip text="One firing, then pause" command="canvas.stepFiring">
        <button
          type="button"
          className="button icon"
          aria-label="Step one firing"
          disabled={!canStep}
          onClick={() => controls.step('firing')}
        >
          <StepForward size={14} aria-hidden="true" />
        </button>
      </Tip>
      <Tip text="To the end of this iteration, then pause" command="canvas.stepIteration">
        <button
          type="button"
          className="button icon"
          aria-label="Step one iteration"
          disabled={!canStep}
          onClick={() => controls.step('iteration')}
        >
          <SkipForward size={14} aria-hidden="true" />
        </button>
      </Tip>
      <Tip
        text={
          status === 'stopping'
            ? 'End now; the node that fires is not waited for'
            : 'End before the next firing'
        }
        command="canvas.stop"
      >
        <button type="button" className="button" disabled={!isLive} onClick={controls.stop}>
          <Square size={12} aria-hidden="true" />
          {status === 'stopping' ? 'Stop now' : 'Stop'}
        </button>
      </Tip>
      <PlayFields controls={controls} />
      <PlayStatusText controls={controls} />
      {action.error ? (
        <ErrorCallout title="That did not work." error={action.error}>
          <TrustButtons error={action.error} onTrusted={controls.play} />
        </ErrorCallout>
      ) : null}
      {view?.error && isMine ? (
        <ErrorCallout title="The environment did not load." error={view.error} />
      ) : null}
    </div>
  );
}

const delays = [
  { value: 0, label: 'No delay' },
  { value: 100, label: '0.1 s' },
  { value: 500, label: '0.5 s' },
  { value: 2000, label: '2 s' },
] as const;

function PlayFields({ controls }: { readonly controls: PlayControls }) {
  const { settings, set, isLive, view } = controls;
  const checkpoints = view?.status === 'paused' ? view.checkpoints : [];
  return (
    <>
      <select
        className="select short"
        aria-label="Delay after each iteration"
        value={settings.stepDelayMs}
        onChange={(event) => set({ stepDelayMs: Number(event.target.value) })}
      >
        {delays.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <label className="row small muted">
        Budget
        <input
          className="input tiny"
          inputMode="numeric"
          aria-label="Step budget"
          placeholder={view?.stepBudget ? String(view.stepBudget) : 'auto'}
          disabled={isLive}
          value={settings.stepBudget ?? ''}
          onChange={(event) => set({ stepBudget: positive(event.target.value) })}
        />
      </label>
      <label className="row small muted">
        Seed
        <input
          className="input tiny"
          inputMode="numeric"
          aria-label="Seed"
          disabled={isLive}
          value={settings.seed}
          onChange={(event) => set({ seed: positive(event.target.value) ?? 0 })}
        />
      </label>
      {checkpoints.length > 0 ? (
        <select
          className="select short"
          aria-label="Go back to a step"
          title="Containers and the counter go back; what nodes and environments keep themselves does not"
          value=""
          onChange={(event) => controls.restore(Number(event.target.value))}
        >
          <option value="">Go back to…</option>
          {checkpoints.toReversed().map((step) => (
            <option key={step} value={step}>
              Step {step}
            </option>
          ))}
        </select>
      ) : null}
    </>
  );
}

function positive(text: string): number | null {
  const number = Number(text);
  return /^\d{1,9}$/.test(text.trim()) && number >= 1 ? number : null;
}

function PlayStatusText({ controls }: { readonly controls: PlayControls }) {
  const { view, isMine, isLive, blocked } = controls;
  const holder = useStudioState((state) => state.guard.holder);
  if (holder?.kind === 'eval')
    return (
      <span className="small muted clip grow">
        <a href={formatAddress({ ...home, page: 'evaluate', run: holder.id })}>{holder.label}</a> is
        executing. Play waits until it ends.
      </span>
    );
  if (blocked !== null && !(isMine && isLive))
    return <span className="small muted clip grow">{blocked}</span>;
  if (!view || !isMine || view.status === 'idle') return <span className="grow" />;
  return (
    <output className="play-status grow">
      <Progress view={view} />
      {view.result && view.status === 'finished' ? <Outcome view={view} /> : null}
    </output>
  );
}

function Progress({ view }: { readonly view: PlayView }) {
  if (view.status === 'preparing')
    return (
      <span className="row small clip">
        <LoaderCircle size={13} className="busy" aria-hidden="true" />
        Preparing{view.stage ? `: ${view.stage}` : ''}
      </span>
    );
  const counts = `Step ${view.step}${view.stepBudget ? ` of ${view.stepBudget}` : ''} · ${formatPlural(view.firings, 'firing')}${usageWords(view.usage)}`;
  return (
    <span className="row small">
      {view.status === 'running' ? <Status status="running" word="Playing" /> : null}
      {view.status === 'paused' ? (
        <span className="status paused">
          <CirclePause size={13} aria-hidden="true" />
          Paused
        </span>
      ) : null}
      {view.status === 'stopping' ? <Status status="stopping" /> : null}
      <span className="play-counts">{counts}</span>
    </span>
  );
}

function Outcome({ view }: { readonly view: PlayView }) {
  const { result } = view;
  if (!result) return null;
  const metrics = Object.entries(result.harvest);
  const word =
    result.status === 'completed' ? 'Completed' : result.status === 'stopped' ? 'Stopped' : 'Failed';
  return (
    <span className="row small clip">
      <Status
        status={
          result.status === 'completed' ? 'completed' : result.status === 'stopped' ? 'cancelled' : 'failed'
        }
        word={`${word} in ${formatMs(result.durationMs)}`}
      />
      {result.limit ? <Status status="limit" word="step budget used up" /> : null}
      <span className="clip" title={metrics.map(([name, value]) => `${name} ${String(value)}`).join('\n')}>
        {metrics
          .slice(0, 5)
          .map(
            ([name, value]) =>
              `${name} ${typeof value === 'number' ? Number(value.toFixed(3)) : String(value)}`,
          )
          .join(' · ')}
      </span>
      {result.error ? (
        <span className="problem clip" title={result.error.message}>
          {result.error.message}
        </span>
      ) : null}
    </span>
  );
}

/** ` · 3 calls, 54 tokens, $0.0012`: what language models used, if any was asked. */
function usageWords(usage: PlayView['usage']): string {
  if (!usage) return '';
  const { inputTokens, outputTokens, costUsd } = usage;
  const tokens =
    inputTokens === null || outputTokens === null
      ? 'tokens unknown'
      : formatPlural(inputTokens + outputTokens, 'token');
  const cost = costUsd === null ? 'cost unknown' : `$${formatCost(costUsd)}`;
  return ` · ${formatPlural(usage.calls, 'call')}, ${tokens}, ${cost}`;
}
