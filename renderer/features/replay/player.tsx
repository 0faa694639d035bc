// Watching: one recorded episode or two in step, what the nodes did beside them, playback below.
import { Workflow } from 'lucide-react';
import { useState } from 'react';
import type { OpenedRecording } from '#contract/replay.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useAddress, useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Segments } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { BesidePicker } from './beside-picker.tsx';
import { useReplayExport } from './export-menu.tsx';
import { FiringsPanel } from './firings-panel.tsx';
import { GraphView } from './graph-view.tsx';
import { LogPanel } from './log-panel.tsx';
import { NoRecording } from './no-recording.tsx';
import { Stage } from './stage.tsx';
import { preferredStream, sameStream } from './streams.ts';
import { TransportBar } from './transport-bar.tsx';
import { usePlayback, type Player as PlayerState } from './use-playback.ts';
import { placeKey, useRecording, type Recording, type WantedRecording } from './use-recording.ts';

export interface Side {
  readonly recording: Recording;
  readonly opened: OpenedRecording;
  readonly stream: number;
}

export interface PlayerProps {
  readonly first: WantedRecording & { readonly runId: string; readonly ordinal: number };
  readonly second: WantedRecording;
}

export function Player({ first: wanted, second: wantedBeside }: PlayerProps) {
  const { runId, ordinal } = wanted;
  // The longer recording decides how far it goes; it is known only once both are open.
  const [lengths, setLengths] = useState({ first: -1, second: -1 });
  const player = usePlayback(Math.max(lengths.first, lengths.second));
  const { step } = player.playback;
  const first = useRecording(wanted, step);
  const second = useRecording(wantedBeside, step);
  if (lengths.first !== first.lastStep || lengths.second !== second.lastStep)
    setLengths({ first: first.lastStep, second: second.lastStep });
  if (first.opened.error)
    return first.opened.error.code === 'not_found' ? (
      <NoRecording runId={runId} ordinal={ordinal} />
    ) : (
      <div className="padded grow">
        <ErrorCallout title="The recording could not be opened." error={first.opened.error}>
          <button type="button" className="button" onClick={first.opened.reload}>
            Try again
          </button>
        </ErrorCallout>
      </div>
    );
  if (!first.opened.value)
    return (
      <div className="padded grow">
        <Skeleton lines={8} label="Opening the recording" />
      </div>
    );
  return <Opened first={first} second={second} player={player} opened={first.opened.value} />;
}

interface OpenedProps {
  readonly first: Recording;
  readonly second: Recording;
  readonly opened: OpenedRecording;
  readonly player: PlayerState;
}

function Opened({ first, second, opened, player }: OpenedProps) {
  const { navigation } = useStudio();
  const { step, speed } = player.playback;
  const [chosen, setChosen] = useState<{ readonly first: number | null; readonly second: number | null }>({
    first: null,
    second: null,
  });
  const firstStream = chosen.first ?? preferredStream(opened.streams, opened.nodes);
  const other = second.opened.value;
  const secondStream = other ? (chosen.second ?? streamBeside(other, opened.streams[firstStream])) : -1;
  const sides: Side[] = [
    { recording: first, opened, stream: firstStream },
    ...(other ? [{ recording: second, opened: other, stream: secondStream }] : []),
  ];
  const { menu, strip } = useReplayExport({ sides, speed });
  return (
    <div className="player">
      <div className="player-tools row">
        <BesidePicker opened={opened} isBeside={second.place !== null} />
        <span className="grow" />
        <a
          className="button"
          href={formatAddress({
            ...home,
            page: 'canvas',
            run: opened.runId,
            episode: opened.ordinal,
            attempt: first.place?.attempt ?? null,
            step,
          })}
        >
          <Workflow size={13} aria-hidden="true" />
          Open on the canvas
        </a>
        {menu}
      </div>
      {strip}
      <div className={second.place === null ? 'player-body' : 'player-body two'}>
        <div className="stages">
          {sides.map((side, at) => (
            <Stage
              key={`${side.opened.runId} ${side.opened.ordinal} ${at === 0 ? 'first' : 'second'}`}
              recording={side.recording}
              opened={side.opened}
              step={step}
              stream={side.stream}
              onStream={(stream) => setChosen({ ...chosen, [at === 0 ? 'first' : 'second']: stream })}
              onAttempt={(attempt) => navigation.change(at === 0 ? { attempt } : { otherAttempt: attempt })}
            />
          ))}
          {second.place !== null && !other ? <Missing second={second} /> : null}
        </div>
        <Details sides={sides} step={step} />
      </div>
      <TransportBar player={player} />
    </div>
  );
}

/** The same camera where there is one. */
function streamBeside(
  other: OpenedRecording,
  wanted: OpenedRecording['streams'][number] | undefined,
): number {
  const same = sameStream(other.streams, wanted);
  return same >= 0 ? same : preferredStream(other.streams, other.nodes);
}

function Missing({ second }: { readonly second: Recording }) {
  const { error } = second.opened;
  if (!second.place) return null;
  if (error?.code === 'not_found')
    return <NoRecording runId={second.place.runId} ordinal={second.place.ordinal} />;
  if (error) return <ErrorCallout title="The other recording could not be opened." error={error} />;
  return (
    <div className="padded grow">
      <Skeleton lines={8} label="Opening the other recording" />
    </div>
  );
}

type DetailName = 'nodes' | 'graph' | 'log';

function Details({ sides, step }: { readonly sides: readonly Side[]; readonly step: number }) {
  const { navigation } = useStudio();
  const { tab } = useAddress();
  const shown: DetailName = tab === 'graph' || tab === 'log' ? tab : 'nodes';
  const [of, setOf] = useState<'first' | 'second'>('first');
  const side = (of === 'second' ? sides[1] : undefined) ?? sides[0];
  if (!side?.recording.place) return null;
  const { place, lastStep } = side.recording;
  const own = Math.max(0, Math.min(step, lastStep));
  return (
    <aside className="player-details" aria-label="What the nodes did">
      <div className="row wrap">
        <Segments<DetailName>
          label="Details"
          value={shown}
          options={[
            { value: 'nodes', label: 'Nodes' },
            { value: 'graph', label: 'Graph' },
            { value: 'log', label: 'Log' },
          ]}
          onChange={(next) => navigation.change({ tab: next === 'nodes' ? null : next })}
        />
        {sides.length > 1 ? (
          <Segments<'first' | 'second'>
            label="Episode of the details"
            value={of}
            options={[
              { value: 'first', label: 'Left' },
              { value: 'second', label: 'Right' },
            ]}
            onChange={setOf}
          />
        ) : null}
      </div>
      {shown === 'nodes' ? <FiringsPanel key={placeKey(place)} place={place} step={own} /> : null}
      {shown === 'graph' ? <GraphView key={placeKey(place)} place={place} step={own} /> : null}
      {shown === 'log' ? <LogPanel key={placeKey(place)} place={place} nodes={side.opened.nodes} /> : null}
    </aside>
  );
}
