// What the engine says about the graph as it is drawn now: asked a moment after the last change, the newest answer wins.
import { useMemo } from 'react';
import type { Diagnostic } from '#contract/graph.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { useLoad } from '../../ui/use-request.ts';
import type { RequestError } from '../../api/request-error.ts';
import { useCanvas, useEditorState } from './canvas-context.tsx';

export interface Validation {
  /** Null while nothing is known. */
  readonly diagnostics: readonly Diagnostic[] | null;
  readonly error: RequestError | null;
  /** True when the answer is about the graph as it is. */
  readonly isCurrent: boolean;
}

const settleMs = 350;
const keys = new WeakMap<object, string>();
let count = 0;

/** A short name for an immutable definition. */
function keyOf(root: object): string {
  const known = keys.get(root);
  if (known !== undefined) return known;
  const key = `graph ${++count}`;
  keys.set(root, key);
  return key;
}

export function useValidation(): Validation {
  const { client } = useStudio();
  const { types } = useCanvas();
  const root = useEditorState((state) => state.history.root);
  const settled = useDebounced(root, settleMs);
  const key = `${keyOf(settled)} ${keyOf(types)}`;
  const { value, error, isLoading } = useLoad(key, (signal) =>
    client.request('graphs.validate', { text: JSON.stringify(settled) }, signal),
  );
  return useMemo(
    () => ({
      diagnostics: value?.diagnostics ?? null,
      error,
      isCurrent: root === settled && !isLoading,
    }),
    [value, error, isLoading, root, settled],
  );
}
