// Listens to the keyboard once for the whole window and runs commands. Text fields keep their own keys.
import { useEffect } from 'react';
import { useStudio } from '../store/use-studio.tsx';
import type { Page } from '../store/address.ts';
import { isMac } from '../ui/platform.ts';
import type { CommandScope } from './commands.ts';
import { chordOf, resolveKey, worksWhileTyping } from './key-bindings.ts';

const sequenceMs = 1000;

export function useKeys(): void {
  const { commands, store, navigation } = useStudio();
  useEffect(() => {
    let previous: { readonly chord: string; readonly atMs: number } | null = null;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const chord = chordOf(event, isMac);
      if (chord === null || (isTyping(event.target) && !worksWhileTyping(chord))) return;
      // A dialog has the keyboard to itself: it closes with Escape by its own means.
      if (
        store.getState().overlay !== 'none' ||
        document.querySelector('[role="alertdialog"], [role="dialog"]')
      )
        return;
      const earlier = previous && event.timeStamp - previous.atMs < sequenceMs ? previous.chord : null;
      if (isPressing(chord, event.target)) return;
      const outcome = resolveKey(chord, earlier, ['global', pageScope(navigation.get().page)]);
      previous = outcome.kind === 'prefix' ? { chord, atMs: event.timeStamp } : null;
      if (outcome.kind !== 'command') return;
      if (commands.run(outcome.id)) event.preventDefault();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [commands, store, navigation]);
}

/** Tables take their keys themselves. */
function pageScope(page: Page): CommandScope {
  if (page === 'canvas') return 'canvas';
  return page === 'replay' ? 'player' : 'detail';
}

/** Enter and Space press the control that has the focus. */
function isPressing(chord: string, target: EventTarget | null): boolean {
  if (chord !== 'Enter' && chord !== 'Space') return false;
  return target instanceof Element && target.closest('button, a, summary, label, [role="menuitem"]') !== null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type);
  return (
    target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable
  );
}
