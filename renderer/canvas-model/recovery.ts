// Work that was not saved survives the window: kept apart from the user's file, in the browser, and taken up again when
// the graph is opened. A draft that cannot be kept is said, never silently lost.
import { z } from 'zod';
import { graphDefinition, type GraphDefinition } from '#contract/graph.ts';

/** What is kept of one graph. */
export interface Draft {
  /** Null for a graph that has no file yet. */
  readonly ref: string | null;
  /** The file's text the edits began from. */
  readonly originalText: string | null;
  readonly definition: GraphDefinition;
  readonly savedAtMs: number;
}

export interface DraftStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const draftShape = z.object({
  ref: z.string().nullable(),
  originalText: z.string().nullable(),
  definition: graphDefinition,
  savedAtMs: z.number(),
});

const keyOf = (ref: string | null): string => `agentcanvas.canvas.draft:${ref ?? 'new'}`;

/** False when the browser's store did not take it. */
export function keepDraft(storage: DraftStorage, draft: Draft): boolean {
  try {
    storage.setItem(keyOf(draft.ref), JSON.stringify(draft));
    return true;
  } catch {
    return false; // A full or forbidden store: the caller says so.
  }
}

/** Null when there is none, or none that can be read. */
export function findDraft(storage: DraftStorage, ref: string | null): Draft | null {
  try {
    const text = storage.getItem(keyOf(ref));
    const parsed = text === null ? null : draftShape.safeParse(JSON.parse(text));
    return parsed?.success ? parsed.data : null;
  } catch {
    return null;
  }
}

export function dropDraft(storage: DraftStorage, ref: string | null): void {
  try {
    storage.removeItem(keyOf(ref));
  } catch {
    // A store that cannot be written holds no draft either.
  }
}
