// What changed since the graph was saved, level by level.
import { Dialog } from '@base-ui/react/dialog';
import { differencesOf, type Difference } from '../../canvas-model/difference.ts';
import { useCanvas, useEditorState } from './canvas-context.tsx';

export function DifferenceDialog({ onClose }: { readonly onClose: () => void }) {
  const { editor } = useCanvas();
  const root = useEditorState((state) => state.history.root);
  const saved = useEditorState((state) => state.saved.definition);
  const lines = differencesOf(saved, root);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop layer" />
        <Dialog.Popup className="dialog wide layer">
          <Dialog.Title>Changes since the last save</Dialog.Title>
          {lines.length === 0 ? <p className="muted">Nothing differs from the file.</p> : null}
          <ul className="difference-list">
            {lines.slice(0, 500).map((line) => (
              <li key={keyOf(line)}>
                <span className={`difference ${line.kind}`}>{line.kind}</span>
                <span className="faint">{line.what}</span>
                <span className="grow">
                  {[...line.path, line.name].join(' › ')}
                  {line.detail ? <span className="muted"> · {line.detail}</span> : null}
                </span>
              </li>
            ))}
          </ul>
          <div className="actions">
            {lines.length > 0 ? (
              <button
                type="button"
                className="button danger"
                onClick={() => {
                  editor.restore('Back to the saved graph', saved);
                  onClose();
                }}
              >
                Back to the saved graph
              </button>
            ) : null}
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function keyOf({ kind, what, path, name, detail }: Difference): string {
  return [kind, what, ...path, name, detail].join('\n');
}
