// Find in the graph, at every level: arrows choose, Enter goes there, Escape closes.
import { useMemo, useState, type KeyboardEvent } from 'react';
import { findItems, type Found } from '../../canvas-model/find.ts';
import { useCanvas, useEditorState } from './canvas-context.tsx';

const shownCount = 12;

export function FindBar({ onClose }: { readonly onClose: () => void }) {
  const { editor } = useCanvas();
  const root = useEditorState((state) => state.history.root);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = useMemo(() => findItems(root, text), [root, text]);
  const at = Math.min(chosen, Math.max(0, found.length - 1));
  const go = (item: Found | undefined): void => {
    if (item) editor.show(item.path, [item.id]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setChosen((at + step + found.length) % Math.max(1, found.length));
    if (event.key === 'Enter') go(found[at]);
    if (event.key === 'Escape') onClose();
    if (step !== 0 || event.key === 'Enter' || event.key === 'Escape') event.preventDefault();
  };
  return (
    <search className="find-bar">
      <input
        // The bar was just asked for.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        type="text"
        className="input"
        aria-label="Find in the graph"
        placeholder="Name, type or field"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      {text !== '' ? (
        <ul>
          {found.slice(0, shownCount).map((item, index) => (
            <li key={[...item.path, item.id].join(' > ')}>
              <button
                type="button"
                className={index === at ? 'validation-line chosen' : 'validation-line'}
                onClick={() => go(item)}
              >
                <span className="clip grow">{[...item.path, item.name].join(' › ')}</span>
                <span className="faint small clip">{item.detail}</span>
              </button>
            </li>
          ))}
          {found.length === 0 ? <li className="muted small">Nothing found.</li> : null}
          {found.length > shownCount ? (
            <li className="faint small">{found.length - shownCount} more</li>
          ) : null}
        </ul>
      ) : null}
    </search>
  );
}
