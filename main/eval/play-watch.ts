// What one Play did so far, node by node, and what its viewers received. Bounded: per node the last firing, per
// viewer the last entries; nothing is made ready for drawing before somebody asks.
import type { PlayedNode } from '../contract/play.ts';
import type { CompiledGraph } from '../graph/compile.ts';
import type { FiringEnd, FiringStart, RunListener, ViewerEvent } from '../graph/listener.ts';
import type { PortValues } from '../graph/ports.ts';

/** Viewers that show every value so far; the others show the latest. */
const accumulating: ReadonlySet<string> = new Set(['textScroll', 'actionLog', 'trajectoryViewer']);
const keptEntries = 2000;

export interface ViewerEntry {
  readonly version: number;
  readonly step: number;
  readonly fields: PortValues;
}

interface ReplyViewer {
  readonly nodeId: string;
  readonly nodeType: string;
  readonly handle: string;
}

export interface ViewerMemory {
  readonly nodeType: string;
  readonly entries: ViewerEntry[];
  version: number;
}

type MutableNode = { -readonly [Key in keyof PlayedNode]: PlayedNode[Key] };

export class PlayWatch {
  readonly #nodes = new Map<string, MutableNode>();
  readonly #last = new Map<string, FiringEnd>();
  readonly #viewers = new Map<string, ViewerMemory>();
  /** Chat node to the viewers its reply goes straight to. */
  #replyViewers: ReadonlyMap<string, readonly ReplyViewer[]> = new Map();
  readonly #changed = new Set<string>();
  readonly #changedViewers = new Set<string>();
  readonly #onChange: () => void;
  #firings = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get firings(): number {
    return this.#firings;
  }

  get nodes(): readonly PlayedNode[] {
    return [...this.#nodes.values()].map((node) => ({ ...node }));
  }

  get viewers(): ReadonlyMap<string, ViewerMemory> {
    return this.#viewers;
  }

  lastFiring(nodeId: string): { readonly node: PlayedNode; readonly firing: FiringEnd } | null {
    const node = this.#nodes.get(nodeId);
    const firing = this.#last.get(nodeId);
    return node && firing ? { node: { ...node }, firing } : null;
  }

  /** Nodes and viewers that changed since the last call. */
  takeChanges(): { readonly nodes: PlayedNode[]; readonly viewers: string[] } {
    const nodes = [...this.#changed].flatMap((id) => {
      const node = this.#nodes.get(id);
      return node ? [{ ...node }] : [];
    });
    const viewers = [...this.#changedViewers];
    this.#changed.clear();
    this.#changedViewers.clear();
    return { nodes, viewers };
  }

  /** The graph whose replies are shown while they come. */
  follow({ nodes }: Pick<CompiledGraph, 'nodes'>): void {
    const viewersOf = (node: CompiledGraph['nodes'][number]): ReplyViewer[] =>
      node.edges.flatMap(({ sourceHandle, target, targetHandle }) => {
        const viewer = nodes[target];
        const isShown = sourceHandle === 'response' && viewer?.role === 'viewer';
        return isShown && !accumulating.has(viewer.type)
          ? [{ nodeId: viewer.id, nodeType: viewer.type, handle: targetHandle }]
          : [];
      });
    this.#replyViewers = new Map(nodes.map((node) => [node.id, viewersOf(node)]));
  }

  /** Text of a reply that is still coming. */
  stream(nodeId: string, step: number, text: string): void {
    for (const viewer of this.#replyViewers.get(nodeId) ?? [])
      this.#show({ ...viewer, step, fields: { [viewer.handle]: text } });
  }

  /** What happened so far stays; a step that is gone back to begins with nothing firing. */
  settle(): void {
    for (const node of this.#nodes.values()) {
      if (!node.isFiring) continue;
      node.isFiring = false;
      this.#changed.add(node.nodeId);
    }
  }

  readonly listener: Required<Pick<RunListener, 'onFiringStart' | 'onFiring' | 'onViewer'>> = {
    onFiringStart: (firing) => {
      this.#nodeOf(firing).isFiring = true;
      this.#changed.add(firing.nodeId);
      this.#onChange();
    },
    onFiring: (firing) => {
      this.#firings++;
      const node = this.#nodeOf(firing);
      node.isFiring = false;
      node.firings++;
      node.step = firing.step;
      node.lastMs = firing.durationMs;
      node.totalMs += firing.durationMs;
      node.error = firing.error?.message ?? null;
      node.hasLog = firing.log.length > 0;
      this.#last.set(firing.nodeId, firing);
      this.#changed.add(firing.nodeId);
      this.#onChange();
    },
    onViewer: (event) => this.#show(event),
  };

  #nodeOf({ nodeId, path, step }: FiringStart): MutableNode {
    const known = this.#nodes.get(nodeId);
    if (known) return known;
    const node: MutableNode = {
      nodeId,
      path,
      isFiring: false,
      firings: 0,
      step,
      lastMs: null,
      totalMs: 0,
      error: null,
      hasLog: false,
    };
    this.#nodes.set(nodeId, node);
    return node;
  }

  #show({ nodeId, nodeType, step, fields }: ViewerEvent): void {
    const viewer = this.#viewers.get(nodeId) ?? { nodeType, entries: [], version: 0 };
    this.#viewers.set(nodeId, viewer);
    viewer.version++;
    viewer.entries.push({ version: viewer.version, step, fields });
    if (viewer.entries.length > (accumulating.has(nodeType) ? keptEntries : 1)) viewer.entries.shift();
    this.#changedViewers.add(nodeId);
    this.#onChange();
  }
}
