// A dialog to find one run of the workspace by search.
import { Dialog } from '@base-ui/react/dialog';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { useStudio } from '../store/use-studio.tsx';
import { ErrorCallout } from './error-callout.tsx';
import { formatCount, formatShortDate } from './format.ts';
import { Skeleton } from './page.tsx';
import { Status } from './status.tsx';
import { useDebounced } from './use-debounced.ts';
import { useLoad } from './use-request.ts';

const typingMs = 150;
const mostShown = 50;

export interface ChooseRunProps {
  readonly title: string;
  /** Runs that are taken already. */
  readonly without: readonly string[];
  readonly onChoose: (runId: string) => void;
  readonly onClose: () => void;
}

export function ChooseRun({ title, without, onChoose, onClose }: ChooseRunProps) {
  const { client } = useStudio();
  const [text, setText] = useState('');
  const search = useDebounced(text, typingMs);
  const runs = useLoad(`runs ${search}`, (signal) =>
    client.request('runs.list', { search, limit: mostShown }, signal),
  );
  const rows = (runs.value?.rows ?? []).filter((row) => !without.includes(row.runId));
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop layer" />
        <Dialog.Popup className="dialog wide layer choose-run">
          <Dialog.Title className="dialog-title">{title}</Dialog.Title>
          <div className="search-box">
            <Search size={14} aria-hidden="true" />
            <input
              type="search"
              className="input search"
              aria-label="Search runs"
              placeholder="Name, graph, split, tag or note"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
          {runs.error ? <ErrorCallout title="The runs could not be listed." error={runs.error} /> : null}
          {runs.value === null && !runs.error ? <Skeleton lines={5} label="Reading the runs" /> : null}
          {runs.value && rows.length === 0 ? <p className="muted">No run matches.</p> : null}
          <ul className="run-choices" aria-label="Runs">
            {rows.map((row) => (
              <li key={row.runId}>
                <button type="button" className="run-choice" onClick={() => onChoose(row.runId)}>
                  <Status status={row.status} />
                  <span className="clip grow">
                    {row.name}
                    <span className="faint">
                      {' '}
                      {[row.split, ...row.tags, row.note].filter(Boolean).join(' · ')}
                    </span>
                  </span>
                  <span className="figures faint">
                    {formatCount(row.counts.planned - row.counts.notRun)} / {formatCount(row.counts.planned)}
                  </span>
                  <span className="figures faint run-choice-date">{formatShortDate(row.createdAt)}</span>
                </button>
              </li>
            ))}
          </ul>
          <div className="actions">
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
