// What everything on the canvas shares: the editor, the node types known now, and what fires.
import { createContext, useContext, useState, type ReactNode } from 'react';
import { useStore } from 'zustand';
import type { PlayedNode } from '#contract/play.ts';
import type { GraphDefinition } from '#contract/graph.ts';
import type { NodeManifest } from '#contract/nodeset.ts';
import type { Editor, EditorState } from '../../canvas-model/editor.ts';
import { levelAt } from '../../canvas-model/levels.ts';
import { playedAt, type PlayState } from '../../canvas-model/play-state.ts';
import { useLoad } from '../../ui/use-request.ts';
import { useThrottled } from '../../ui/use-throttled.ts';
import type { NodeDetail } from '../../canvas-model/drawn-value.ts';
import type { FiringSource, ViewerContent } from './firing-source.ts';

export interface CanvasParts {
  readonly editor: Editor;
  readonly play: FiringSource;
  readonly types: ReadonlyMap<string, NodeManifest>;
  /** A recorded episode: looked at, not changed. */
  readonly isReadOnly: boolean;
}

const CanvasContext = createContext<CanvasParts | null>(null);

export function CanvasProvider({
  parts,
  children,
}: {
  readonly parts: CanvasParts;
  readonly children: ReactNode;
}) {
  return <CanvasContext value={parts}>{children}</CanvasContext>;
}

export function useCanvas(): CanvasParts {
  const parts = useContext(CanvasContext);
  if (!parts) throw new Error('Parts of the canvas live inside CanvasProvider.');
  return parts;
}

export function useEditorState<T>(select: (state: EditorState) => T): T {
  return useStore(useCanvas().editor.store, select);
}

export const levelOf = (state: EditorState): GraphDefinition =>
  levelAt(state.history.root, state.path) ?? state.history.root;

export function useLevel(): GraphDefinition {
  return useEditorState(levelOf);
}

export function usePlay<T>(select: (state: PlayState) => T): T {
  return useStore(useCanvas().play.store, select);
}

/** What Play knows of a node of the open level; undefined before it fired. */
export function usePlayed(id: string, isComposite: boolean): PlayedNode | undefined {
  const path = useEditorState((state) => state.path);
  const single = usePlay((state) =>
    isComposite ? undefined : playedAt(state.nodes, path, { id, isComposite }),
  );
  const all = usePlay((state) => (isComposite ? state.nodes : null));
  return all ? playedAt(all, path, { id, isComposite }) : single;
}

export function useViewer(flatId: string): ViewerContent | undefined {
  return useStore(useCanvas().play.viewers, (viewers) => viewers.get(flatId));
}

export interface ShownDetail {
  /** False before the node fired, as far as the canvas knows. */
  readonly isKnown: boolean;
  readonly detail: NodeDetail | null;
}

const nothingShown = { nodeId: '', detail: null as NodeDetail | null };
/** Between two looks at a node that goes on firing. */
const lookEveryMs = 150;

/** What a node of the flat graph received and gave last. While the next values are read, those before stay. */
export function useNodeDetail(nodeId: string | null): ShownDetail {
  const { play } = useCanvas();
  const moment = usePlay((state) => (nodeId === null ? null : play.momentOf(state, nodeId)));
  const looked = useThrottled(moment === null ? null : `${nodeId ?? ''} ${moment}`, lookEveryMs);
  const { value, isLoading } = useLoad(looked, (signal) => play.detail(nodeId ?? '', signal));
  const [held, setHeld] = useState(nothingShown);
  const isAnswered = nodeId !== null && !isLoading && looked?.startsWith(`${nodeId} `) === true;
  if (isAnswered && (value !== held.detail || held.nodeId !== nodeId)) setHeld({ nodeId, detail: value });
  const isKnown = moment !== null;
  return { isKnown, detail: isKnown && held.nodeId === nodeId ? held.detail : null };
}
