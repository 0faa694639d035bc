// The form's contents per graph, remembered in this browser; a configuration taken over from a run comes first.
import { useEffect, useState } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { recall, recallStrings, remember } from '../../ui/storage.ts';
import { draftOfConfig, draftOfStored, emptyDraft, type Draft } from './draft.ts';

const keptRecent = 8;

export interface DraftState {
  readonly draft: Draft;
  readonly change: (change: Partial<Draft>) => void;
  readonly reset: () => void;
}

/** For one graph: its component is made anew for another. */
export function useDraft(graph: string): DraftState {
  const { store } = useStudio();
  const [draft, setDraft] = useState(() => {
    const taken = store.getState().draft;
    if (taken?.graph === graph) return draftOfConfig(taken);
    return draftOfStored(recall(`draft.${graph}`)) ?? emptyDraft;
  });
  useEffect(() => {
    remember(`draft.${graph}`, draft);
    if (store.getState().draft) store.getState().setDraft(null);
  }, [store, graph, draft]);
  return {
    draft,
    change: (change) => setDraft((before) => ({ ...before, ...change })),
    reset: () => setDraft(emptyDraft),
  };
}

/** Graphs a run was started with, latest first. */
export const recentGraphs = (): string[] => recallStrings('recent');

export function rememberGraph(ref: string): void {
  remember('recent', [ref, ...recentGraphs().filter((other) => other !== ref)].slice(0, keptRecent));
}
