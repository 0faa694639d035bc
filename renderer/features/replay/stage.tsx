// One recorded episode on the stage: what it was, its picture at the current step, the action taken and the map.
import { useEffect } from 'react';
import type { OpenedRecording, RecordedStep } from '#contract/replay.ts';
import { formatAddress, home } from '../../store/address.ts';
import { formatCount, formatMetricValue, formatWord } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { ErrorCallout, Warning } from '../../ui/error-callout.tsx';
import { assetUrl } from '../../ui/asset-url.ts';
import { DepthColours, DepthLegend } from './depth-colours.tsx';
import { EpisodeMap } from './episode-map.tsx';
import { stepWithin } from './playback.ts';
import { pictureAt, streamLabel } from './streams.ts';
import type { Recording } from './use-recording.ts';

/** Pictures fetched before they are needed. */
const aheadPictures = 8;

export interface StageProps {
  readonly recording: Recording;
  readonly opened: OpenedRecording;
  readonly step: number;
  readonly stream: number;
  readonly onStream: (stream: number) => void;
  /** Null for the last one that was kept. */
  readonly onAttempt: (attempt: number | null) => void;
}

export function Stage({ recording, opened, step, stream, onStream, onAttempt }: StageProps) {
  const { steps, lastStep } = recording;
  const own = stepWithin(step, lastStep);
  const isOver = step > lastStep && lastStep >= 0;
  const stepAt = (at: number) => steps.get(at);
  const picture = pictureAt(stepAt, own, stream);
  const current = steps.get(own);
  useEffect(() => {
    for (let at = own + 1; at <= Math.min(lastStep, own + aheadPictures); at += 1) {
      const next = steps.get(at)?.images.find((image) => image.stream === stream);
      if (next) new Image().src = assetUrl(next.asset.address);
    }
  }, [own, lastStep, steps, stream]);
  const title = `Episode ${opened.episodeId ?? opened.ordinal}`;
  return (
    <section className="stage" aria-label={`${title}, ${opened.graphName}`}>
      <header className="row wrap">
        <h2 className="clip">{title}</h2>
        {opened.status ? <Status status={opened.status} /> : null}
        <Attempts opened={opened} onAttempt={onAttempt} />
        <a
          className="small muted clip"
          href={formatAddress({
            ...home,
            page: 'history',
            run: opened.runId,
            view: 'episodes',
            episode: opened.ordinal,
          })}
        >
          {opened.graphName}
        </a>
      </header>
      {opened.instruction ? <p className="small stage-words">{opened.instruction}</p> : null}
      <div className="stage-views">
        <Frame
          title={title}
          streams={opened.streams}
          stream={stream}
          picture={picture}
          step={own}
          onStream={onStream}
        />
        {opened.map ? <EpisodeMap map={opened.map} step={own} /> : null}
      </div>
      <dl className="stage-facts small">
        <Fact name="step" value={isOver ? `${own}, over` : String(own)} />
        <Fact name="action" value={current?.action ?? '–'} />
        <Fact
          name="position"
          value={current?.position ? current.position.map((part) => part.toFixed(2)).join(', ') : '–'}
        />
        {(current?.errors ?? 0) > 0 ? (
          <Fact name="node errors" value={formatCount(current?.errors ?? 0)} />
        ) : null}
      </dl>
      <dl className="stage-facts small">
        {Object.entries(opened.metrics).map(([name, value]) => (
          <Fact key={name} name={name} value={formatMetricValue(value).text} />
        ))}
      </dl>
      {steps.error ? (
        <ErrorCallout title="The steps could not be read." error={steps.error}>
          <button type="button" className="button" onClick={() => steps.invalidate()}>
            Try again
          </button>
        </ErrorCallout>
      ) : null}
      {opened.errorMessage ? <Warning>{opened.errorMessage}</Warning> : null}
      {opened.isCut ? (
        <Warning>The recording reached its size limit: later steps were not kept.</Warning>
      ) : null}
      {opened.isIndexed ? null : (
        <p className="small muted">
          Reading the log:{' '}
          {formatCount(Math.floor((100 * opened.indexedBytes) / Math.max(1, opened.logBytes)))} % so far,{' '}
          {formatCount(opened.steps)} steps can be watched.
        </p>
      )}
    </section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="figures">{value}</dd>
    </div>
  );
}

interface FrameProps {
  readonly title: string;
  readonly streams: OpenedRecording['streams'];
  readonly stream: number;
  readonly picture: RecordedStep['images'][number] | null;
  readonly step: number;
  readonly onStream: (stream: number) => void;
}

/** Pixels of small pictures stay pixels; depth is coloured. */
function Frame({ title, streams, stream, picture, step, onStream }: FrameProps) {
  const { width = 0, isDepth = false } = streams[stream] ?? {};
  const looks = [width < 200 ? 'pixels' : '', isDepth ? 'depth' : ''].filter((name) => name !== '').join(' ');
  return (
    <figure className="stage-frame">
      {isDepth ? <DepthColours /> : null}
      {picture === null ? (
        <p className="faint">{streams.length === 0 ? 'No pictures were recorded.' : 'No picture yet.'}</p>
      ) : (
        <img
          src={assetUrl(picture.asset.address)}
          alt={`What was seen at step ${step}`}
          className={looks === '' ? undefined : looks}
        />
      )}
      {isDepth && picture ? <DepthLegend low={picture.low} high={picture.high} /> : null}
      {streams.length > 1 ? (
        <select
          className="select small-select"
          aria-label={`Picture of ${title}`}
          value={stream}
          onChange={(event) => onStream(Number(event.target.value))}
        >
          {streams.map((option, at) => (
            <option key={streamLabel(option)} value={at}>
              {streamLabel(option)}
            </option>
          ))}
        </select>
      ) : null}
    </figure>
  );
}

interface AttemptsProps {
  readonly opened: OpenedRecording;
  readonly onAttempt: (attempt: number | null) => void;
}

/** An episode that was tried again: the earlier tries are why. */
function Attempts({ opened: { attempt, attempts, ordinal }, onAttempt }: AttemptsProps) {
  if (attempts.length < 2) return null;
  const last = attempts.findLast(({ isKept }) => isKept)?.attempt;
  return (
    <select
      className="select small-select"
      aria-label={`Attempt of episode ${ordinal}`}
      value={attempt}
      onChange={(event) => {
        const chosen = Number(event.target.value);
        onAttempt(chosen === last ? null : chosen);
      }}
    >
      {attempts.map((one) => (
        <option key={one.attempt} value={one.attempt} disabled={!one.isKept}>
          {`attempt ${one.attempt} of ${attempts.length}${one.status ? `, ${formatWord(one.status)}` : ''}${one.isKept ? '' : ', not kept'}`}
        </option>
      ))}
    </select>
  );
}
