// Saving: into the file by editing its text, or as a new file in the workspace. What was edited while the file was
// written stays unsaved; a file that changed in between is never overwritten without asking.
import { useState } from 'react';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { useAction, type Action } from '../../ui/use-request.ts';
import { dropDraft } from '../../canvas-model/recovery.ts';
import { useCanvas } from './canvas-context.tsx';

export interface Saving {
  readonly action: Action;
  /** Why a name must be given first; null while nobody is asked. */
  readonly asks: string | null;
  readonly isReadOnly: boolean;
  readonly save: () => void;
  readonly saveCopy: (name: string) => void;
  readonly overwrite: () => void;
  readonly ask: (reason: string) => void;
  readonly cancel: () => void;
}

export function useSave(): Saving {
  const { client, navigation } = useStudio();
  const { editor } = useCanvas();
  const isReadOnly = useStudioState((state) => state.info?.readOnly ?? false);
  const action = useAction();
  const [asks, setAsks] = useState<string | null>(null);
  const write = (overwrite: boolean): void => {
    const { saved } = editor.store.getState();
    const { ref, text } = saved;
    if (ref === null || text === null) return setAsks('It has no file yet.');
    if (saved.isLibrary) return setAsks('This graph ships with the app and stays as it is; yours is a copy.');
    const definition = editor.root;
    action.run(async () => {
      const answer = await client.request('graphs.saveEdited', {
        ref,
        originalText: text,
        definition,
        overwrite,
      });
      editor.markSaved({ ...saved, text: answer.text, definition });
      if (!editor.isDirty) dropDraft(localStorage, ref);
    });
  };
  const saveCopy = (name: string): void => {
    const { saved } = editor.store.getState();
    const { root } = editor;
    const definition = { ...root, ...(saved.ref === null && { name: root.name || name }) };
    action.run(async () => {
      const { ref } = await client.request('graphs.saveCopy', { name, originalText: saved.text, definition });
      // What was edited meanwhile stays a draft of the old graph.
      if (editor.root === root) {
        editor.markSaved({ ...saved, definition: root });
        dropDraft(localStorage, saved.ref);
      }
      setAsks(null);
      navigation.go({ page: 'canvas', graph: ref });
    });
  };
  return {
    action,
    asks,
    isReadOnly,
    save: () => write(false),
    overwrite: () => write(true),
    saveCopy,
    ask: (reason) => {
      action.clear();
      setAsks(reason);
    },
    cancel: () => setAsks(null),
  };
}
