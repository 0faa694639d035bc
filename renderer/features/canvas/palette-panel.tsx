// The list of node types: search, drag onto the canvas, or choose and press Enter.
import { useReactFlow } from '@xyflow/react';
import { Search } from 'lucide-react';
import { useMemo, useState, type KeyboardEvent } from 'react';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { useAction } from '../../ui/use-request.ts';
import type { Position } from '../../canvas-model/node-commands.ts';
import { useCanvas } from './canvas-context.tsx';
import { nodeWidth } from './flow-model.ts';
import {
  addComposite,
  addOfPalette,
  paletteDrag,
  paletteEntries,
  paletteGroups,
  type PaletteEntry,
} from './palette-entries.ts';

export function PalettePanel() {
  const { editor, types } = useCanvas();
  const [text, setText] = useState('');
  const place = useFreePlace();
  const entries = useMemo(() => paletteEntries(types), [types]);
  const groups = paletteGroups(entries, text);
  const add = (entry: PaletteEntry): void => {
    const ids = addOfPalette(editor, types, entry.key, place());
    if (ids.length > 0) editor.reveal(ids.length > 1 ? ids : []);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    const first = groups[0]?.entries[0];
    if (event.key !== 'Enter' || !first) return;
    event.preventDefault();
    add(first);
  };
  return (
    <section className="canvas-palette" aria-label="Nodes to add">
      <div className="search-box">
        <Search size={14} aria-hidden="true" />
        <input
          type="search"
          className="input search"
          aria-label="Search nodes to add"
          placeholder="Search nodes"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="canvas-palette-list">
        {groups.map((group) => (
          <section key={group.name} aria-label={group.name}>
            <h3>{group.name}</h3>
            {group.entries.map((entry) => (
              <button
                key={entry.key}
                type="button"
                className="palette-node"
                title={entry.description || entry.key}
                draggable
                onDragStart={(event) => {
                  event.dataTransfer.setData(paletteDrag, entry.key);
                  event.dataTransfer.effectAllowed = 'copy';
                }}
                onClick={() => add(entry)}
              >
                <span className="clip">{entry.title}</span>
              </button>
            ))}
          </section>
        ))}
        {groups.length === 0 ? <p className="muted small">No node matches “{text}”.</p> : null}
        <Reusable text={text} place={place} />
      </div>
    </section>
  );
}

/** Graphs that were saved as reusable nodes. */
function Reusable({ text, place }: { readonly text: string; readonly place: () => Position }) {
  const { client } = useStudio();
  const { editor } = useCanvas();
  const graphs = useStudioState((state) => state.graphs);
  const adding = useAction();
  const found = (graphs ?? []).filter(
    ({ evalGraph, name, description }) =>
      !evalGraph &&
      !description.startsWith('Cannot be read') &&
      name.toLowerCase().includes(text.toLowerCase()),
  );
  if (found.length === 0) return null;
  return (
    <section aria-label="Reusable">
      <h3>Reusable</h3>
      {found.map(({ ref, name, description }) => (
        <button
          key={ref}
          type="button"
          className="palette-node"
          title={description}
          onClick={() =>
            adding.run(async () => {
              const { definition } = await client.request('graphs.read', { ref });
              addComposite(editor, name, definition, place());
              editor.reveal([]);
            })
          }
        >
          <span className="clip">{name}</span>
        </button>
      ))}
      {adding.error ? <p className="problem small">{adding.error.message}</p> : null}
    </section>
  );
}

const gap = 70;

/** Right of the selected node where there is one, else the middle of the view; never on top of another node. */
function useFreePlace(): () => Position {
  const { editor } = useCanvas();
  const { screenToFlowPosition } = useReactFlow();
  return () => {
    const { level } = editor;
    const { ids } = editor.store.getState().selection;
    const chosen = level.nodes.findLast(({ id }) => ids.has(id));
    const box = document.querySelector('.flow')?.getBoundingClientRect();
    const middle = screenToFlowPosition({
      x: (box?.left ?? 0) + (box?.width ?? 0) / 2 - nodeWidth / 2,
      y: (box?.top ?? 0) + (box?.height ?? 0) / 2 - 40,
    });
    const start = chosen ? { x: chosen.position.x + nodeWidth + gap, y: chosen.position.y } : middle;
    const isTaken = (at: Position): boolean =>
      level.nodes.some(
        ({ position }) => Math.abs(position.x - at.x) < nodeWidth && Math.abs(position.y - at.y) < 90,
      );
    let at = start;
    for (let attempt = 0; isTaken(at) && attempt < 200; attempt++) at = { x: at.x, y: at.y + 110 };
    return at;
  };
}
