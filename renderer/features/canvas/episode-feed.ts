// A recorded episode as a source of firings: its steps read as they come near, values by what is looked at. Bounded: a
// few steps ahead and behind are kept, and of every viewer the last entries.
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { OpenedRecording, RecordedFiring } from '#contract/replay.ts';
import type { Client } from '../../api/client.ts';
import { drawnPorts, type NodeDetail } from '../../canvas-model/drawn-value.ts';
import { detailOf, nodesAfter } from '../../canvas-model/episode-state.ts';
import { noPlay, type PlayState } from '../../canvas-model/play-state.ts';
import { accumulating, keptEntries, type FiringSource, type ViewerMap } from './firing-source.ts';

export interface EpisodePlace {
  readonly runId: string;
  readonly ordinal: number;
  /** Left out: the last one that was kept. */
  readonly attempt?: number;
}

export interface StepFirings {
  readonly firings: readonly RecordedFiring[];
  /** More than `firings` where a step has more than is read. */
  readonly total: number;
}

const pageSize = 200;
/** Firings of one step that are shown one after the other. */
const mostFirings = 2000;
const keptSteps = 64;

export class EpisodeFeed implements FiringSource {
  readonly store: StoreApi<PlayState> = createStore<PlayState>(() => noPlay);
  readonly viewers: StoreApi<ViewerMap> = createStore<ViewerMap>(() => new Map());
  /** Rises when a step was read. */
  readonly version: StoreApi<number> = createStore(() => 0);
  readonly #client: Client;
  readonly place: EpisodePlace;
  readonly #steps = new Map<number, StepFirings>();
  readonly #reading = new Map<number, Promise<void>>();
  readonly #controller = new AbortController();
  readonly #viewerTypes: ReadonlyMap<string, string>;
  readonly #tracks = new Map<string, ViewerTrack>();
  #nodes: OpenedRecording['nodes'] = [];
  #knownSteps = 0;
  #moment = '';
  #shown: readonly RecordedFiring[] = [];
  #line = -1;
  #isFollowing = false;

  /** `viewerTypes`: nodes of the flat graph that are viewers. */
  constructor(client: Client, place: EpisodePlace, viewerTypes: ReadonlyMap<string, string>) {
    this.#client = client;
    this.place = place;
    this.#viewerTypes = viewerTypes;
  }

  /** What is known of the whole recording; while a long log is indexed its end is read again. */
  takeOpened({ nodes, steps }: Pick<OpenedRecording, 'nodes' | 'steps'>): void {
    this.#nodes = nodes;
    if (steps === this.#knownSteps) return;
    this.#steps.delete(this.#knownSteps - 1);
    this.#tracks.clear();
    this.#knownSteps = steps;
  }

  stepOf(step: number): StepFirings | undefined {
    return this.#steps.get(step);
  }

  /** Reads a step unless it is there. Throws what the request throws. */
  read(step: number): Promise<void> {
    if (this.#steps.has(step)) return Promise.resolve();
    const running = this.#reading.get(step) ?? this.#readStep(step);
    this.#reading.set(step, running);
    return running;
  }

  /** Draws a step after `done` of its firings. */
  show(step: number, done: number): void {
    const read = this.#steps.get(step);
    if (!read) return;
    // Least recently shown steps go first.
    this.#steps.delete(step);
    this.#steps.set(step, read);
    this.#shown = read.firings.slice(0, done);
    this.#line = this.#shown.at(-1)?.line ?? (read.firings[0]?.line ?? 0) - 1;
    this.#moment = `${step} ${done}`;
    const nodes = nodesAfter(read.firings, done);
    this.store.setState((before) => ({ ...before, nodes, viewerRounds: before.viewerRounds + 1 }));
    void this.#followWithViewers();
  }

  readonly momentOf = (): string | null => (this.#moment === '' ? null : this.#moment);

  readonly detail = async (nodeId: string, signal: AbortSignal): Promise<NodeDetail | null> => {
    const own = this.#shown.findLast((firing) => firing.nodeId === nodeId);
    const firing = own ?? (await this.#lastBefore(nodeId, this.#line, signal));
    return firing ? detailOf(firing, this.#nodes) : null;
  };

  close(): void {
    this.#controller.abort();
  }

  async #readStep(step: number): Promise<void> {
    const { signal } = this.#controller;
    const firings: RecordedFiring[] = [];
    let total = 0;
    try {
      do {
        const asked = { ...this.place, step, offset: firings.length, limit: pageSize };
        const page = await this.#client.request('replay.firings', asked, signal);
        if (page.firings.length === 0) break;
        firings.push(...page.firings);
        total = page.total;
      } while (firings.length < Math.min(total, mostFirings));
    } finally {
      this.#reading.delete(step);
    }
    this.#steps.set(step, { firings, total });
    for (const oldest of this.#steps.keys()) {
      if (this.#steps.size <= keptSteps) break;
      this.#steps.delete(oldest);
    }
    this.version.setState((before) => before + 1, true);
  }

  /** The node's last firing up to a line, looked for backwards in growing windows. */
  async #lastBefore(nodeId: string, line: number, signal: AbortSignal): Promise<RecordedFiring | undefined> {
    let until = line;
    for (let width = pageSize; until >= 0; width *= 4) {
      const from = Math.max(0, until - width + 1);
      let found: RecordedFiring | undefined;
      let next: number | null = from;
      while (next !== null && next <= until) {
        const asked = { ...this.place, fromLine: next, nodeId, limit: pageSize };
        const page: { firings: RecordedFiring[]; nextLine: number | null } = await this.#client.request(
          'replay.log',
          asked,
          signal,
        );
        found = page.firings.findLast((firing) => firing.line <= line) ?? found;
        next = page.nextLine;
      }
      if (found) return found;
      until = from - 1;
    }
    return undefined;
  }

  /** One pass at a time, each for the newest moment: a track is never read twice at once. */
  async #followWithViewers(): Promise<void> {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    try {
      for (let drawn = ''; drawn !== this.#moment;) {
        drawn = this.#moment;
        await this.#showViewers(this.#line);
      }
    } catch {
      // The step itself says what cannot be read; the next one tries again.
    }
    this.#isFollowing = false;
  }

  async #showViewers(line: number): Promise<void> {
    const { signal } = this.#controller;
    for (const [nodeId, nodeType] of this.#viewerTypes) {
      const track = this.#tracks.get(nodeId) ?? new ViewerTrack(this.#client, this.place, nodeId);
      this.#tracks.set(nodeId, track);
      await track.readTo(line, signal);
      const seen = track.upTo(line);
      const kept = accumulating.has(nodeType) ? seen : seen.slice(-1);
      const version = kept.at(-1)?.line ?? -1;
      const before = this.viewers.getState().get(nodeId);
      if (before?.version === version && before.entries.length === kept.length) continue;
      const entries = kept.map((firing) => ({ step: firing.step, fields: drawnPorts(firing.inputs) }));
      const next = new Map(this.viewers.getState());
      next.set(nodeId, { nodeType, version, entries, dropped: 0 });
      this.viewers.setState(next, true);
    }
  }
}

/** Lines a viewer's firings are read back from a place that was jumped to. */
const linesBehind = 20_000;

/** Firings of one viewer, read forward as the cursor moves. */
class ViewerTrack {
  readonly #client: Client;
  readonly #place: EpisodePlace;
  readonly #nodeId: string;
  #firings: RecordedFiring[] = [];
  /** Lines [from, next) are read; null: to the end. */
  #from = 0;
  #next: number | null = 0;

  constructor(client: Client, place: EpisodePlace, nodeId: string) {
    this.#client = client;
    this.#place = place;
    this.#nodeId = nodeId;
  }

  async readTo(line: number, signal: AbortSignal): Promise<void> {
    const isFar = this.#next !== null && line - this.#next > linesBehind;
    if (line < this.#from || isFar) {
      this.#from = Math.max(0, line - linesBehind);
      this.#next = this.#from;
      this.#firings = [];
    }
    while (this.#next !== null && this.#next <= line) {
      const asked = { ...this.#place, fromLine: this.#next, nodeId: this.#nodeId, limit: pageSize };
      const page: { firings: RecordedFiring[]; nextLine: number | null } = await this.#client.request(
        'replay.log',
        asked,
        signal,
      );
      this.#firings.push(...page.firings);
      this.#next = page.nextLine;
      // Beginnings are let go; going back to them reads them again.
      if (this.#firings.length > 2 * keptEntries) {
        this.#firings = this.#firings.slice(-keptEntries);
        this.#from = this.#firings[0]?.line ?? this.#from;
      }
    }
  }

  upTo(line: number): readonly RecordedFiring[] {
    const later = this.#firings.findIndex((firing) => firing.line > line);
    return later < 0 ? this.#firings : this.#firings.slice(0, later);
  }
}
