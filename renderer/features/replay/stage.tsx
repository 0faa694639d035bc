// One recorded episode on the stage: what it was, its picture at the current step, the action taken and the map.
import { useEffect } from 'react';
import type { OpenedRecording } from '#contract/replay.ts';
import { formatAddress, home } from '../../store/address.ts';
import { formatCount, formatMetricValue } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { ErrorCallout, Warning } from '../../ui/error-callout.tsx';
import { assetUrl } from './asset-url.ts';
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
}

export function Stage({ recording, opened, step, stream, onStream }: StageProps) {
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
  const shown = opened.streams[stream];
  const title = `Episode ${opened.episodeId ?? opened.ordinal}`;
  return (
    <section className="stage" aria-label={`${title}, ${opened.graphName}`}>
      <header className="row wrap">
        <h2 className="clip">{title}</h2>
        {opened.status ? <Status status={opened.status} /> : null}
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
        <figure className="stage-frame">
          {picture === null ? (
            <p className="faint">
              {opened.streams.length === 0 ? 'No pictures were recorded.' : 'No picture yet.'}
            </p>
          ) : (
            <img
              src={assetUrl(picture)}
              alt={`What was seen at step ${own}`}
              className={(shown?.width ?? 0) < 200 ? 'pixels' : undefined}
            />
          )}
          {opened.streams.length > 1 ? (
            <select
              className="select small-select"
              aria-label={`Picture of ${title}`}
              value={stream}
              onChange={(event) => onStream(Number(event.target.value))}
            >
              {opened.streams.map((option, at) => (
                <option key={streamLabel(option)} value={at}>
                  {streamLabel(option)}
                </option>
              ))}
            </select>
          ) : null}
        </figure>
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
