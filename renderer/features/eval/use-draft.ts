// The form's contents per graph, remembered in this browser; a configuration taken over from a run comes first.
import { useCallback, useEffect, useState } from 'react';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { recall, recallStrings, remember } from '../../ui/storage.ts';
import { draftOfConfig, draftOfStored, emptyDraft, type Draft } from './draft.ts';

const keptRecent = 8;

export interface DraftState {
  readonly draft: Draft;
  readonly change: (change: Partial<Draft>) => void;
  readonly reset: () => void;
}

export function useDraft(graph: string | null): DraftState {
  const { store } = useStudio();
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const taken = useStudioState((state) => state.draft);
  useEffect(() => {
    if (!taken) return;
    const adopted = draftOfConfig(taken);
    remember(`draft.${taken.graph}`, adopted);
    setDrafts((before) => ({ ...before, [taken.graph]: adopted }));
    store.getState().setDraft(null);
  }, [taken, store]);
  const key = graph ?? '';
  const draft = drafts[key] ?? draftOfStored(recall(`draft.${key}`)) ?? emptyDraft;
  const put = useCallback(
    (next: Draft) => {
      setDrafts((before) => ({ ...before, [key]: next }));
      remember(`draft.${key}`, next);
    },
    [key],
  );
  return {
    draft,
    change: (change) => put({ ...draft, ...change }),
    reset: () => put(emptyDraft),
  };
}

/** Graphs a run was started with, latest first. */
export const recentGraphs = (): string[] => recallStrings('recent');

export function rememberGraph(ref: string): void {
  remember('recent', [ref, ...recentGraphs().filter((other) => other !== ref)].slice(0, keptRecent));
}
