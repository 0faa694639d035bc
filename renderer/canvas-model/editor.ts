// The editor's state and everything a person can do to it: one store per open graph, no drawing. Every change goes
// through `apply`, so that undo, dirty state and recovery see all of it.
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { GraphDefinition } from '#contract/graph.ts';
import { copyText, parseFragment, paste } from './clipboard.ts';
import { group, ungroup } from './composites.ts';
import { handlesOf, type Manifests } from './handles.ts';
import { beginHistory, record, redo, undo, type History } from './history.ts';
import { changeLevel, existingPath, levelAt, type LevelPath } from './levels.ts';
import { removeItems, type Added, type Position } from './node-commands.ts';

export interface Selection {
  /** Nodes and containers. */
  readonly ids: ReadonlySet<string>;
  /** Wires and grants. */
  readonly edges: ReadonlySet<string>;
}

export const nothingSelected: Selection = { ids: new Set(), edges: new Set() };

/** What the file says; null parts while there is no file. */
export interface SavedGraph {
  readonly ref: string | null;
  readonly name: string;
  readonly text: string | null;
  readonly definition: GraphDefinition;
  /** Ships with the app: saving makes a copy. */
  readonly isLibrary: boolean;
}

export interface EditorState {
  readonly history: History;
  readonly path: LevelPath;
  readonly selection: Selection;
  readonly saved: SavedGraph;
  /** Why the last command did nothing. */
  readonly refusal: string | null;
  /** Asks the canvas to bring these into view; the number makes a repeated wish a new one. */
  readonly reveal: { readonly ids: readonly string[]; readonly count: number } | null;
}

export interface EditorPorts {
  readonly manifests: () => Manifests;
  readonly now: () => number;
}

export type EditorStore = StoreApi<EditorState>;
export type LevelChange = (level: GraphDefinition) => GraphDefinition;

export class Editor {
  readonly store: EditorStore;
  readonly #ports: EditorPorts;

  constructor(saved: SavedGraph, ports: EditorPorts) {
    this.#ports = ports;
    this.store = createStore<EditorState>(() => ({
      history: beginHistory(saved.definition),
      path: [],
      selection: nothingSelected,
      saved,
      refusal: null,
      reveal: null,
    }));
  }

  get root(): GraphDefinition {
    return this.store.getState().history.root;
  }

  /** The level that is open. */
  get level(): GraphDefinition {
    const { history, path } = this.store.getState();
    return levelAt(history.root, path) ?? history.root;
  }

  get isDirty(): boolean {
    return isDirty(this.store.getState());
  }

  /** Changes the open level; commands with the same key in quick succession are one step of undo. */
  apply(label: string, change: LevelChange, key?: string): void {
    const { path } = this.store.getState();
    this.#replace(label, changeLevel(this.root, path, change), key);
  }

  /** A recovered draft, as one step that can be undone. */
  restore(label: string, root: GraphDefinition): void {
    this.#replace(label, root);
  }

  add(label: string, make: (level: GraphDefinition) => Added): readonly string[] {
    const { level, ids } = make(this.level);
    this.apply(label, () => level);
    this.select(ids);
    return ids;
  }

  undo(): void {
    this.#travel(undo);
  }

  redo(): void {
    this.#travel(redo);
  }

  select(ids: Iterable<string>, edges: Iterable<string> = []): void {
    const selection = { ids: new Set(ids), edges: new Set(edges) };
    if (!isSameSelection(selection, this.store.getState().selection)) this.store.setState({ selection });
  }

  /** Opens a level, selects and brings into view. */
  show(path: LevelPath, ids: readonly string[]): void {
    this.open(path);
    this.select(ids);
    this.reveal(ids);
  }

  reveal(ids: readonly string[]): void {
    const count = (this.store.getState().reveal?.count ?? 0) + 1;
    this.store.setState({ reveal: { ids, count } });
  }

  open(path: LevelPath): void {
    const { path: before } = this.store.getState();
    if (before.join('\n') === path.join('\n')) return;
    this.store.setState({ path: existingPath(this.root, path), selection: nothingSelected, refusal: null });
  }

  removeSelected(): void {
    const { selection } = this.store.getState();
    if (selection.ids.size + selection.edges.size === 0) return;
    this.apply('Remove', (level) => removeItems(level, selection.ids, selection.edges));
    this.select([]);
  }

  selectAll(): void {
    const { nodes, containers } = this.level;
    this.select([...nodes, ...containers].map(({ id }) => id));
  }

  /** Null when nothing is selected. */
  copy(): string | null {
    const { ids } = this.store.getState().selection;
    return ids.size === 0 ? null : copyText(this.level, ids);
  }

  /** False when the text is no part of a graph. */
  paste(text: string, at: Position): boolean {
    const fragment = parseFragment(text);
    if (!fragment) return false;
    this.add('Paste', (level) => paste(level, fragment, at));
    return true;
  }

  duplicate(): void {
    const text = this.copy();
    const corner = this.#cornerOfSelection();
    if (text !== null) this.paste(text, { x: corner.x + 40, y: corner.y + 40 });
  }

  group(): void {
    const { ids } = this.store.getState().selection;
    const outcome = group(this.level, ids, handlesOf(this.level, this.#ports.manifests()));
    if (outcome.ok) this.add('Group', () => outcome);
    else this.refuse(outcome.reason);
  }

  ungroup(): void {
    const composites = this.level.nodes.filter(
      ({ id, subgraph }) => subgraph && this.store.getState().selection.ids.has(id),
    );
    if (composites.length === 0) return this.refuse('Select a composite to take apart.');
    this.add('Take apart', (before) => {
      let level = before;
      const ids: string[] = [];
      for (const { id } of composites) {
        const opened = ungroup(level, id);
        level = opened.level;
        ids.push(...opened.ids);
      }
      return { level, ids };
    });
  }

  refuse(reason: string | null): void {
    this.store.setState({ refusal: reason });
  }

  /** The file is now this; edits made while it was written stay. */
  markSaved(saved: SavedGraph): void {
    this.store.setState({ saved });
  }

  #cornerOfSelection(): Position {
    const { ids } = this.store.getState().selection;
    const chosen = [...this.level.nodes, ...this.level.containers].filter(({ id }) => ids.has(id));
    const positions = chosen.flatMap(({ position }) => (position ? [position] : []));
    if (positions.length === 0) return { x: 0, y: 0 };
    return { x: Math.min(...positions.map(({ x }) => x)), y: Math.min(...positions.map(({ y }) => y)) };
  }

  #replace(label: string, root: GraphDefinition, key?: string): void {
    const { history } = this.store.getState();
    if (root === history.root) return;
    const atMs = this.#ports.now();
    this.#set(record(history, root, key === undefined ? { label, atMs } : { label, key, atMs }));
  }

  #travel(move: (history: History) => History): void {
    const { history } = this.store.getState();
    const next = move(history);
    if (next !== history) this.#set(next);
  }

  /** The open level and the selection follow: what is gone is let go. */
  #set(history: History): void {
    const { path, selection } = this.store.getState();
    const open = existingPath(history.root, path);
    const level = levelAt(history.root, open) ?? history.root;
    const there = new Set([...level.nodes, ...level.containers].map(({ id }) => id));
    const wires = new Set([...level.edges, ...level.access_grants].map(({ id }) => id));
    const kept = {
      ids: new Set([...selection.ids].filter((id) => there.has(id))),
      edges: new Set([...selection.edges].filter((id) => wires.has(id))),
    };
    this.store.setState({
      history,
      path: open.length === path.length ? path : open,
      selection: isSameSelection(kept, selection) ? selection : kept,
      refusal: null,
    });
  }
}

export function isDirty({ history, saved }: Pick<EditorState, 'history' | 'saved'>): boolean {
  return history.root !== saved.definition;
}

function isSameSelection(one: Selection, other: Selection): boolean {
  const same = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
    a.size === b.size && [...a].every((id) => b.has(id));
  return same(one.ids, other.ids) && same(one.edges, other.edges);
}
