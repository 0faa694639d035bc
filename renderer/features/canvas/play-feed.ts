// The canvas' line to Play: state by events, what viewers show by asking, at most once a frame and only while somebody
// can see it. Everything kept is bounded.
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { RequestInput } from '#contract/api.ts';
import type { PlayView, ViewerFrame } from '#contract/play.ts';
import type { Client } from '../../api/client.ts';
import type { NodeDetail } from '../../canvas-model/drawn-value.ts';
import {
  noPlay,
  withFirings,
  withSnapshot,
  withView,
  type PlayState,
} from '../../canvas-model/play-state.ts';
import { accumulating, keptEntries, type FiringSource, type ViewerMap } from './firing-source.ts';

const greatestRate = 1000 / 20;

/** Which graph the canvas shows: what plays another one is not drawn on it. */
export interface PlayedGraph {
  readonly name: string;
  readonly ref: string | null;
}

export class PlayFeed implements FiringSource {
  readonly store: StoreApi<PlayState> = createStore<PlayState>(() => noPlay);
  readonly viewers: StoreApi<ViewerMap> = createStore<ViewerMap>(() => new Map());
  readonly #client: Client;
  #execution: string | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isAsking = false;
  #isBehind = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Begins to listen; returns the end of it. */
  start(): () => void {
    const end = this.#client.transport.subscribe(
      (message) => {
        if (message.name === 'play.changed') this.#apply((state) => withView(state, message.payload));
        if (message.name === 'play.firing') {
          this.#apply((state) => withFirings(state, message.payload));
          if (message.payload.viewers.length > 0) this.#askSoon();
        }
      },
      () => void this.refresh(),
    );
    const onVisible = (): void => this.#askSoon();
    document.addEventListener('visibilitychange', onVisible);
    void this.refresh();
    return () => {
      end();
      document.removeEventListener('visibilitychange', onVisible);
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timer = null;
    };
  }

  async refresh(): Promise<void> {
    try {
      const snapshot = await this.#client.request('play.state', {});
      this.#apply((state) => withSnapshot(state, snapshot));
      this.#askSoon();
    } catch {
      // The state of the line says it; the next event or gap asks again.
    }
  }

  readonly momentOf = (state: PlayState, nodeId: string): string | null => {
    const played = state.nodes.get(nodeId);
    return played ? `${state.view?.executionId ?? ''} ${played.firings}` : null;
  };

  readonly detail = (nodeId: string, signal: AbortSignal): Promise<NodeDetail | null> =>
    this.#client.request('play.node', { nodeId }, signal);

  take(view: PlayView): void {
    this.#apply((state) => withView(state, view));
  }

  async begin(request: RequestInput<'play.start'>): Promise<void> {
    this.take(await this.#client.request('play.start', request));
  }

  #apply(change: (state: PlayState) => PlayState): void {
    const next = change(this.store.getState());
    this.store.setState(next, true);
    const execution = next.view?.executionId ?? null;
    if (execution === this.#execution) return;
    this.#execution = execution;
    this.viewers.setState(new Map(), true);
  }

  #askSoon(): void {
    this.#isBehind = true;
    if (this.#timer !== null || this.#isAsking || document.visibilityState === 'hidden') return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#ask();
    }, greatestRate);
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    this.#isBehind = false;
    const known = Object.fromEntries([...this.viewers.getState()].map(([id, { version }]) => [id, version]));
    try {
      const { executionId, frames } = await this.#client.request('play.viewers', { known });
      if (executionId === this.#execution && frames.length > 0)
        this.viewers.setState(merged(this.viewers.getState(), frames), true);
      // A long log comes in several replies.
      if (frames.some(({ entries }) => entries.length >= 200)) this.#isBehind = true;
    } catch {
      this.#isBehind = false; // The next event asks again.
    }
    this.#isAsking = false;
    if (this.#isBehind) this.#askSoon();
  }
}

export function merged(viewers: ViewerMap, frames: readonly ViewerFrame[]): ViewerMap {
  const next = new Map(viewers);
  for (const { nodeId, nodeType, version, entries, dropped } of frames) {
    const before = next.get(nodeId);
    const keeps = accumulating.has(nodeType);
    const all = keeps ? [...(before?.entries ?? []), ...entries].slice(-keptEntries) : entries.slice(-1);
    next.set(nodeId, {
      nodeType,
      version,
      entries: all,
      dropped: keeps ? (before?.dropped ?? 0) + dropped : 0,
    });
  }
  return next;
}
