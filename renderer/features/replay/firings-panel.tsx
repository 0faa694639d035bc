// What every node of the current step took in, gave out and wrote: folded to a line each, opened where it matters.
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { RecordedFiring } from '#contract/replay.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount, formatDuration } from '../../ui/format.ts';
import { Skeleton } from '../../ui/page.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { useLoad } from '../../ui/use-request.ts';
import { RecordedValueView, shortValue } from './recorded-value.tsx';
import { placeKey, type EpisodePlace } from './use-recording.ts';

const settleMs = 120;
const pageSize = 100;

interface StepFirings {
  readonly step: number;
  readonly firings: readonly RecordedFiring[];
  readonly total: number;
}

export interface FiringsPanelProps {
  readonly place: EpisodePlace;
  readonly step: number;
}

export function FiringsPanel({ place, step }: FiringsPanelProps) {
  const { client } = useStudio();
  const settled = useDebounced(step, settleMs);
  const [more, setMore] = useState({ step: -1, offset: 0 });
  const offset = more.step === settled ? more.offset : 0;
  const loaded = useLoad<StepFirings>(`${placeKey(place)} ${settled} ${offset}`, async (signal) => ({
    step: settled,
    ...(await client.request('replay.firings', { ...place, step: settled, offset, limit: pageSize }, signal)),
  }));
  // The step before stays until the next one is read: nothing flickers while it plays.
  const [held, setHeld] = useState<StepFirings | null>(null);
  if (loaded.value !== null && loaded.value !== held) setHeld(loaded.value);
  const shown = loaded.value ?? held;
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  if (loaded.error)
    return (
      <ErrorCallout title="The step could not be read." error={loaded.error}>
        <button type="button" className="button" onClick={loaded.reload}>
          Try again
        </button>
      </ErrorCallout>
    );
  if (!shown) return <Skeleton lines={6} label="Reading the step" />;
  return (
    <div className="firings">
      <p className="small muted">
        Step {formatCount(shown.step)}: {formatCount(shown.total)} firings
      </p>
      {shown.firings.map((firing) => (
        <Firing
          key={`${firing.nodeId} ${firing.line - (shown.firings[0]?.line ?? 0)}`}
          firing={firing}
          isOpen={folds.get(firing.nodeId) ?? (firing.error !== null || firing.log.length > 0)}
          onFold={(isOpen) => setFolds(new Map(folds).set(firing.nodeId, isOpen))}
        />
      ))}
      {shown.total > pageSize ? (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={offset === 0}
            onClick={() => setMore({ step: settled, offset: Math.max(0, offset - pageSize) })}
          >
            Earlier firings
          </button>
          <button
            type="button"
            className="button"
            disabled={offset + pageSize >= shown.total}
            onClick={() => setMore({ step: settled, offset: offset + pageSize })}
          >
            Later firings
          </button>
        </div>
      ) : null}
    </div>
  );
}

export interface FiringProps {
  readonly firing: RecordedFiring;
  readonly isOpen: boolean;
  readonly onFold: (isOpen: boolean) => void;
  readonly withStep?: boolean;
}

export function Firing({ firing, isOpen, onFold, withStep = false }: FiringProps) {
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  const gave = firing.outputs.map(({ port, value }) => `${port} ${shortValue(value)}`).join(', ');
  return (
    <section className={firing.error === null ? 'firing' : 'firing failed'} aria-label={firing.path}>
      <button type="button" className="firing-head" aria-expanded={isOpen} onClick={() => onFold(!isOpen)}>
        <Arrow size={13} aria-hidden="true" />
        <span className="firing-name">
          {withStep ? <span className="faint">{firing.step} </span> : null}
          {firing.path}
        </span>
        <span className="clip grow faint">{isOpen ? firing.nodeType : gave}</span>
        <span className="faint figures">{formatDuration(firing.durationMs)}</span>
      </button>
      {firing.error === null ? null : <p className="problem small">Error: {firing.error}</p>}
      {isOpen ? (
        <div className="firing-body">
          <Ports title="In" ports={firing.inputs} />
          <Ports title="Out" ports={firing.outputs} />
          <Ports title="Log" ports={firing.log.map(({ key, value }) => ({ port: key, value }))} />
        </div>
      ) : null}
    </section>
  );
}

function Ports({ title, ports }: { readonly title: string; readonly ports: RecordedFiring['inputs'] }) {
  if (ports.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <dl className="facts">
        {ports.map(({ port, value }, at) => (
          // A log may have the same key twice; entries never change places.
          // oxlint-disable-next-line react/no-array-index-key
          <PortFact key={`${port} ${at}`} port={port} value={value} />
        ))}
      </dl>
    </div>
  );
}

function PortFact({ port, value }: RecordedFiring['inputs'][number]) {
  return (
    <>
      <dt className="mono">{port}</dt>
      <dd>
        <RecordedValueView label={port} value={value} />
      </dd>
    </>
  );
}
