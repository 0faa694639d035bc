// Which level is open, and the way back out.
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatAddress, home } from '../../store/address.ts';
import { levelAt, nodeName } from '../../canvas-model/levels.ts';
import { useCanvas, useEditorState } from './canvas-context.tsx';

/** What is given stands behind the name of the graph. */
export function Breadcrumbs({ children }: { readonly children?: ReactNode }) {
  const { editor } = useCanvas();
  const saved = useEditorState((state) => state.saved);
  const path = useEditorState((state) => state.path);
  const root = useEditorState((state) => state.history.root);
  const names = path.map((id, index) => {
    const outer = levelAt(root, path.slice(0, index));
    return nodeName(outer?.nodes.find((node) => node.id === id) ?? { id, label: '' });
  });
  return (
    <nav className="breadcrumbs" aria-label="Levels">
      <a href={formatAddress({ ...home, page: 'canvas' })}>Canvas</a>
      <ChevronRight size={13} className="faint" aria-hidden="true" />
      <h1 className="clip">
        {path.length === 0 ? (
          saved.name
        ) : (
          <button type="button" className="crumb" onClick={() => editor.open([])}>
            {saved.name}
          </button>
        )}
      </h1>
      {children}
      {names.map((name, index) => (
        <span className="row" key={path.slice(0, index + 1).join(' ')}>
          <ChevronRight size={13} className="faint" aria-hidden="true" />
          <button type="button" className="crumb" onClick={() => editor.open(path.slice(0, index + 1))}>
            {name}
          </button>
        </span>
      ))}
    </nav>
  );
}
