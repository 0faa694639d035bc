// Keeps what is not saved in the browser's store: a moment after each change, and at once when the window goes.
import { useEffect, useState } from 'react';
import { isDirty } from '../../canvas-model/editor.ts';
import { dropDraft, keepDraft } from '../../canvas-model/recovery.ts';
import { useCanvas } from './canvas-context.tsx';

const settleMs = 400;

/** False when the store does not take the draft. */
export function useDraftKeeper(): boolean {
  const { editor } = useCanvas();
  const [isKept, setKept] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const keep = (): void => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      const { history, saved } = editor.store.getState();
      if (!isDirty({ history, saved })) return dropDraft(localStorage, saved.ref);
      const draft = {
        ref: saved.ref,
        originalText: saved.text,
        definition: history.root,
        savedAtMs: Date.now(),
      };
      setKept(keepDraft(localStorage, draft));
    };
    const end = editor.store.subscribe((state, before) => {
      if (state.history.root === before.history.root && state.saved === before.saved) return;
      timer ??= setTimeout(keep, settleMs);
    });
    const onGone = (): void => {
      if (timer !== null) keep();
    };
    window.addEventListener('pagehide', onGone);
    document.addEventListener('visibilitychange', onGone);
    return () => {
      end();
      onGone();
      window.removeEventListener('pagehide', onGone);
      document.removeEventListener('visibilitychange', onGone);
    };
  }, [editor]);
  return isKept;
}
