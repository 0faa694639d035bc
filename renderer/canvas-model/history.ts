// Undo and redo of everything: earlier definitions are kept whole, which costs little because they share what did not
// change. Quick changes of the same thing (typing, dragging on) are one step.
import type { GraphDefinition } from '#contract/graph.ts';

export interface Step {
  readonly root: GraphDefinition;
  /** What was done to get away from `root`: "Move 3 nodes". */
  readonly label: string;
}

export interface History {
  readonly root: GraphDefinition;
  readonly past: readonly Step[];
  readonly future: readonly Step[];
  /** Of the last change; the next one with the same key within a moment joins it. */
  readonly last: { readonly key: string; readonly atMs: number } | null;
}

export interface Change {
  readonly label: string;
  /** Changes with the same key join when they follow each other quickly. */
  readonly key?: string;
  readonly atMs: number;
}

const keptSteps = 500;
const joinWithinMs = 1500;

export const beginHistory = (root: GraphDefinition): History => ({ root, past: [], future: [], last: null });

export function record(history: History, root: GraphDefinition, change: Change): History {
  if (root === history.root) return history;
  const { key, label, atMs } = change;
  const { last } = history;
  const last_ = key === undefined ? null : { key, atMs };
  const joins = last !== null && last.key === key && atMs - last.atMs < joinWithinMs;
  if (joins) return { ...history, root, future: [], last: last_ };
  const past = [...history.past, { root: history.root, label }].slice(-keptSteps);
  return { root, past, future: [], last: last_ };
}

export function undo(history: History): History {
  const step = history.past.at(-1);
  if (!step) return history;
  return {
    root: step.root,
    past: history.past.slice(0, -1),
    future: [{ root: history.root, label: step.label }, ...history.future],
    last: null,
  };
}

export function redo(history: History): History {
  const [step, ...future] = history.future;
  if (!step) return history;
  return {
    root: step.root,
    past: [...history.past, { root: history.root, label: step.label }],
    future,
    last: null,
  };
}
