// Where the canvas has firings from: Play, or a recorded episode. Nodes, wires and viewers are drawn alike from both.
import type { StoreApi } from 'zustand/vanilla';
import type { DrawnPort, NodeDetail } from '../../canvas-model/drawn-value.ts';
import type { PlayState } from '../../canvas-model/play-state.ts';

export interface ViewerEntry {
  readonly step: number;
  readonly fields: readonly DrawnPort[];
}

export interface ViewerContent {
  readonly nodeType: string;
  readonly version: number;
  /** Oldest first; one for viewers that show only the latest. */
  readonly entries: readonly ViewerEntry[];
  readonly dropped: number;
}

export type ViewerMap = ReadonlyMap<string, ViewerContent>;

/** Viewers that show every value so far; the others show the latest. */
export const accumulating: ReadonlySet<string> = new Set(['textScroll', 'actionLog', 'trajectoryViewer']);
export const keptEntries = 2000;

export interface FiringSource {
  readonly store: StoreApi<PlayState>;
  readonly viewers: StoreApi<ViewerMap>;
  /** Names what `detail` would tell now; null when nothing is known of the node. */
  readonly momentOf: (state: PlayState, nodeId: string) => string | null;
  readonly detail: (nodeId: string, signal: AbortSignal) => Promise<NodeDetail | null>;
}
