// Ctrl/Cmd-K: graphs, runs and actions by a few letters. The field keeps the focus; arrows move the choice.
import { Dialog } from '@base-ui/react/dialog';
import { useMemo, useState, type KeyboardEvent } from 'react';
import { useStudio, useStudioState } from '../store/use-studio.tsx';
import { Keys } from '../ui/tip.tsx';
import { useLoad } from '../ui/use-request.ts';
import { commands } from './commands.ts';
import { paletteEntries, type PaletteEntry } from './palette-entries.ts';

export function CommandPalette() {
  const isOpen = useStudioState((state) => state.overlay === 'palette');
  const setOverlay = useStudioState((state) => state.setOverlay);
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => setOverlay(open ? 'palette' : 'none')}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop layer" />
        <Dialog.Popup className="dialog palette layer" aria-label="Search graphs, runs and actions">
          <PaletteBody onClose={() => setOverlay('none')} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PaletteBody({ onClose }: { readonly onClose: () => void }) {
  const studio = useStudio();
  const graphs = useStudioState((state) => state.graphs);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const runs = useLoad(`runs ${text}`, (signal) =>
    studio.client.request('runs.list', { search: text, limit: 20 }, signal),
  );
  const actions = useMemo(
    () =>
      commands
        .filter((command) => command.inPalette && studio.commands.get(command.id))
        .map((command) => ({
          id: command.id,
          title: studio.commands.get(command.id)?.title ?? command.title,
          chord: command.keys[0] ?? null,
        })),
    [studio],
  );
  const entries = paletteEntries(text, { actions, graphs: graphs ?? [], runs: runs.value?.rows ?? [] });
  const at = Math.min(chosen, entries.length - 1);

  const open = (entry: PaletteEntry | undefined): void => {
    if (!entry) return;
    onClose();
    const { target } = entry;
    if ('command' in target) studio.commands.run(target.command);
    else if ('graph' in target) studio.navigation.go({ page: 'evaluate', graph: target.graph });
    else studio.navigation.go({ page: 'history', run: target.run });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setChosen((at + step + entries.length) % Math.max(1, entries.length));
    if (event.key === 'Enter') open(entries[at]);
    if (step !== 0 || event.key === 'Enter') event.preventDefault();
  };

  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label="Search graphs, runs and actions"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries[at] ? `palette-${at}` : undefined}
        placeholder="Graph, run or action"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <PaletteList entries={entries} at={at} onOpen={open} />
    </>
  );
}

interface PaletteListProps {
  readonly entries: readonly PaletteEntry[];
  readonly at: number;
  readonly onOpen: (entry: PaletteEntry) => void;
}

/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the field above keeps the focus and moves the choice */
function PaletteList({ entries, at, onOpen }: PaletteListProps) {
  if (entries.length === 0)
    return (
      <div id="palette-list" role="listbox" aria-label="Results" tabIndex={-1}>
        <div role="option" aria-selected="false" aria-disabled="true" className="muted">
          Nothing found.
        </div>
      </div>
    );
  return (
    <div id="palette-list" role="listbox" aria-label="Results" tabIndex={-1}>
      {entries.map((entry, index) => (
        <div
          key={entry.key}
          id={`palette-${index}`}
          role="option"
          aria-selected={index === at}
          ref={(element) => {
            if (index === at) element?.scrollIntoView({ block: 'nearest' });
          }}
          onClick={() => onOpen(entry)}
        >
          <span className="kind">{entry.kind}</span>
          <span className="clip">{entry.title}</span>
          <span className="clip grow small faint">{entry.detail}</span>
          {entry.chord ? <Keys chord={entry.chord} /> : null}
        </div>
      ))}
    </div>
  );
}
