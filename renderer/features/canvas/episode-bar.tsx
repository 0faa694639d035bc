// The controls of a recorded episode above its graph: play, one firing, one step, scrub, speed, and what fired.
import {
  ChevronFirst,
  ChevronLast,
  Pause,
  Play,
  SkipBack,
  SkipForward,
  StepBack,
  StepForward,
} from 'lucide-react';
import type { ReactNode } from 'react';
import type { OpenedRecording } from '#contract/replay.ts';
import { episodeSpeeds } from '../../canvas-model/episode-cursor.ts';
import { placeOf } from '../../canvas-model/find.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useCommand } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { Tip } from '../../ui/tip.tsx';
import { useCanvas } from './canvas-context.tsx';
import type { EpisodeFeed } from './episode-feed.ts';
import { formatMs } from './format-ms.ts';
import { useEpisode, type EpisodePlayer } from './use-episode.ts';

export interface EpisodeBarProps {
  readonly feed: EpisodeFeed;
}

export function EpisodeBar({ feed }: EpisodeBarProps) {
  const episode = useEpisode(feed);
  const { runId, ordinal } = feed.place;
  const { opened, stepError } = episode;
  if (opened.error?.code === 'not_found') return <EpisodeMissing runId={runId} ordinal={ordinal} />;
  const error = opened.error ?? stepError;
  return (
    <section className="play-bar episode-bar" aria-label="Recorded episode">
      {opened.value ? (
        <>
          <Buttons episode={episode} />
          <Scrubber episode={episode} />
          <Current episode={episode} opened={opened.value} />
        </>
      ) : error ? null : (
        <Skeleton lines={1} label="Opening the recording" />
      )}
      {error ? (
        <ErrorCallout title="The recording could not be read." error={error}>
          <button type="button" className="button" onClick={opened.error ? opened.reload : episode.retry}>
            Try again
          </button>
        </ErrorCallout>
      ) : null}
    </section>
  );
}

/** Without a recording the graph is all there is to see. */
export function EpisodeMissing({
  runId,
  ordinal,
}: {
  readonly runId: string;
  readonly ordinal: number | null;
}) {
  return (
    <section className="play-bar episode-bar" aria-label="Recorded episode">
      <span className="small muted grow">
        {ordinal === null
          ? 'This is the graph the run was made with. Choose an episode to replay it here.'
          : 'Nothing of this episode was recorded, so only its graph can be shown.'}
      </span>
      <a className="button" href={formatAddress({ ...home, page: 'replay', run: runId, episode: ordinal })}>
        {ordinal === null ? 'Recorded episodes' : 'How to record it'}
      </a>
    </section>
  );
}

function Buttons({ episode }: { readonly episode: EpisodePlayer }) {
  const { cursor, lastStep, isAtStart, isAtEnd } = episode;
  const isEmpty = lastStep < 0;
  useCommand('canvas.play', isEmpty ? null : episode.toggle);
  useCommand('canvas.stepFiring', isEmpty ? null : () => episode.moveFirings(1));
  useCommand('canvas.stepIteration', isEmpty ? null : () => episode.moveSteps(1));
  useCommand('canvas.firingBack', isEmpty ? null : () => episode.moveFirings(-1));
  useCommand('canvas.stepBack', isEmpty ? null : () => episode.moveSteps(-1));
  useCommand('canvas.stepForward', isEmpty ? null : () => episode.moveSteps(1));
  useCommand('canvas.firstStep', isEmpty ? null : () => episode.seek(0));
  useCommand('canvas.lastStep', isEmpty ? null : () => episode.seek(lastStep));
  useCommand('canvas.slower', () => episode.changeSpeed(-1));
  useCommand('canvas.faster', () => episode.changeSpeed(1));
  const { isPlaying } = cursor;
  return (
    <span className="row tight">
      <IconButton
        size={14}
        label="First step"
        command="canvas.firstStep"
        icon={ChevronFirst}
        onClick={() => episode.seek(0)}
      />
      <IconButton
        size={14}
        label="One step back"
        command="canvas.stepBack"
        icon={SkipBack}
        isDisabled={cursor.step <= 0}
        onClick={() => episode.moveSteps(-1)}
      />
      <IconButton
        size={14}
        label="One firing back"
        command="canvas.firingBack"
        icon={StepBack}
        isDisabled={isAtStart}
        onClick={() => episode.moveFirings(-1)}
      />
      <Tip text={isPlaying ? 'Pause' : 'Replay the firings'} command="canvas.play">
        <button type="button" className="button primary play" disabled={isEmpty} onClick={episode.toggle}>
          {isPlaying ? <Pause size={14} aria-hidden="true" /> : <Play size={14} aria-hidden="true" />}
          {isPlaying ? 'Pause' : 'Replay'}
        </button>
      </Tip>
      <IconButton
        size={14}
        label="One firing forward"
        command="canvas.stepFiring"
        icon={StepForward}
        isDisabled={isAtEnd}
        onClick={() => episode.moveFirings(1)}
      />
      <IconButton
        size={14}
        label="One step forward"
        command="canvas.stepForward"
        icon={SkipForward}
        isDisabled={cursor.step >= lastStep}
        onClick={() => episode.moveSteps(1)}
      />
      <IconButton
        size={14}
        label="Last step"
        command="canvas.lastStep"
        icon={ChevronLast}
        onClick={() => episode.seek(lastStep)}
      />
    </span>
  );
}

function Scrubber({ episode }: { readonly episode: EpisodePlayer }) {
  const { cursor, lastStep } = episode;
  const digits = String(Math.max(0, lastStep)).length;
  return (
    <>
      <input
        type="range"
        className="scrubber"
        aria-label="Step"
        min={0}
        max={Math.max(0, lastStep)}
        value={cursor.step}
        disabled={lastStep <= 0}
        onChange={(event) => episode.seek(event.target.valueAsNumber)}
      />
      <span className="figures small step-count">
        Step {String(cursor.step).padStart(digits, '\u2007')} / {formatCount(Math.max(0, lastStep))}
      </span>
      <select
        className="select short"
        aria-label="Speed"
        value={cursor.speed}
        onChange={(event) => episode.setSpeed(Number(event.target.value))}
      >
        {episodeSpeeds.map((speed) => (
          <option key={speed} value={speed}>
            {speed}×
          </option>
        ))}
      </select>
    </>
  );
}

interface CurrentProps {
  readonly episode: EpisodePlayer;
  readonly opened: OpenedRecording;
}

/** What fired, and the way to it; behind it how the episode ended. */
function Current({ episode, opened }: CurrentProps) {
  const { editor } = useCanvas();
  const { current, done, total, isCut } = episode;
  const show = (): void => {
    if (!current) return;
    const place = placeOf(editor.root, current.path);
    if (place) editor.show(place.path, [place.id]);
  };
  const words: ReactNode = current ? (
    <button type="button" className="link small clip" title={current.path} onClick={show}>
      {current.path}
    </button>
  ) : null;
  return (
    <output className="row small grow clip" data-testid="firing">
      <span className="figures nowrap">
        {total === undefined ? 'Reading the step' : `Firing ${done ?? 0} of ${formatCount(total)}`}
      </span>
      {words}
      {current ? <span className="faint figures nowrap">{formatMs(current.durationMs)}</span> : null}
      {current && current.phase !== 'loop' ? <span className="chip">{current.phase}</span> : null}
      {current?.error ? <span className="problem clip">{current.error}</span> : null}
      {isCut ? <span className="faint nowrap">the rest of this step is in its log</span> : null}
      <span className="grow" />
      {opened.isIndexed ? null : <span className="faint nowrap">reading the log</span>}
      {opened.episodeId === null ? null : <span className="faint nowrap">{opened.episodeId}</span>}
      {opened.status ? <Status status={opened.status} /> : null}
    </output>
  );
}
