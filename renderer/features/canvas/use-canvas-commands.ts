// Keys of the canvas. Copying goes through the clipboard as text; pasting listens to the browser's own event, which
// needs no permission.
import { useReactFlow } from '@xyflow/react';
import { useEffect } from 'react';
import { useCommand } from '../../store/use-studio.tsx';
import { copyText } from '../../ui/copy-button.tsx';
import { handlesOf } from '../../canvas-model/handles.ts';
import { moveItems } from '../../canvas-model/node-commands.ts';
import { autoLayout } from './auto-layout.ts';
import { useCanvas, useEditorState, useLevel } from './canvas-context.tsx';
import { nodeWidth } from './flow-model.ts';
import type { Saving } from './use-save.ts';

export interface CanvasCommands {
  readonly layOut: () => void;
  readonly leave: () => void;
}

export function useCanvasCommands(saving: Saving, onFind: () => void): CanvasCommands {
  const { editor, types } = useCanvas();
  const { fitView, getNodes } = useReactFlow();
  const level = useLevel();
  const path = useEditorState((state) => state.path);
  const hasSelection = useEditorState(({ selection }) => selection.ids.size + selection.edges.size > 0);
  const hasNodes = useEditorState(({ selection }) => selection.ids.size > 0);
  const canUndo = useEditorState(({ history }) => history.past.length > 0);
  const canRedo = useEditorState(({ history }) => history.future.length > 0);
  const composite = useEditorState(({ selection }) =>
    level.nodes.find(({ id, subgraph }) => subgraph && selection.ids.has(id)),
  );

  const copy = (): boolean => {
    const text = editor.copy();
    if (text !== null)
      void copyText(text).then((done) => done || editor.refuse('The clipboard is not available here.'));
    return text !== null;
  };
  const layOut = (): void => {
    const sizes = new Map(
      getNodes().map((node) => [
        node.id,
        {
          width: node.measured?.width ?? nodeWidth,
          height: node.measured?.height ?? node.initialHeight ?? 80,
        },
      ]),
    );
    const handles = handlesOf(level, { manifestOf: (type) => types.get(type) });
    void autoLayout(level, handles, sizes).then(
      (positions) => {
        editor.apply('Lay out', (before) => moveItems(before, positions));
        editor.reveal([]);
      },
      () => editor.refuse('The layout engine did not start. Reload the window and try again.'),
    );
  };
  const leave = (): void => editor.open(path.slice(0, -1));

  useCommand('canvas.save', saving.isReadOnly ? null : saving.save);
  useCommand('canvas.undo', canUndo ? () => editor.undo() : null);
  useCommand('canvas.redo', canRedo ? () => editor.redo() : null);
  useCommand('canvas.copy', hasNodes && !hasTextSelection() ? () => void copy() : null);
  useCommand('canvas.cut', hasNodes ? () => copy() && editor.removeSelected() : null);
  useCommand('canvas.duplicate', hasNodes ? () => editor.duplicate() : null);
  useCommand('canvas.selectAll', () => editor.selectAll());
  useCommand('canvas.delete', hasSelection ? () => editor.removeSelected() : null);
  useCommand('canvas.find', onFind);
  useCommand('canvas.layout', level.nodes.length > 0 ? layOut : null);
  useCommand('canvas.fit', () => void fitView({ padding: 0.12, maxZoom: 1 }));
  useCommand('canvas.group', hasNodes ? () => editor.group() : null);
  useCommand('canvas.ungroup', composite ? () => editor.ungroup() : null);
  useCommand('canvas.open', composite ? () => editor.open([...path, composite.id]) : null);
  useCommand('canvas.leave', path.length > 0 ? leave : null);
  useCommand('back', hasSelection ? () => editor.select([]) : path.length > 0 ? leave : null);
  usePaste();
  return { layOut, leave };
}

function hasTextSelection(): boolean {
  return (window.getSelection()?.toString() ?? '') !== '';
}

function usePaste(): void {
  const { editor } = useCanvas();
  const { screenToFlowPosition } = useReactFlow();
  useEffect(() => {
    const onPaste = (event: ClipboardEvent): void => {
      const target = event.target;
      if (target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]'))
        return;
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text === '') return;
      const box = document.querySelector('.flow')?.getBoundingClientRect();
      const at = screenToFlowPosition({
        x: (box?.left ?? 0) + (box?.width ?? 0) / 3,
        y: (box?.top ?? 0) + (box?.height ?? 0) / 3,
      });
      if (editor.paste(text, at)) event.preventDefault();
      else editor.refuse('The clipboard holds no part of a graph.');
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, [editor, screenToFlowPosition]);
}
