// What can be put on the canvas: node types by kind, a loop as one thing, containers, and reusable composites.
import type { GraphDefinition } from '#contract/graph.ts';
import type { NodeManifest } from '#contract/nodeset.ts';
import { addContainer } from '../../canvas-model/container-commands.ts';
import type { Editor } from '../../canvas-model/editor.ts';
import { freshId, takenIds } from '../../canvas-model/levels.ts';
import { addLoop, addNode, type Added, type Position } from '../../canvas-model/node-commands.ts';

/** Drag data: the key of an entry. */
export const paletteDrag = 'application/x-agentcanvas-palette';

export interface PaletteEntry {
  /** A node type, or `loop`, `container`. */
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly group: string;
}

/** Pivots come in pairs. */
const hidden: ReadonlySet<string> = new Set(['iterIn', 'iterOut']);

const own: readonly PaletteEntry[] = [
  {
    key: 'loop',
    title: 'Loop',
    description: 'A loop start and a loop end that belong together',
    group: 'Control',
  },
  {
    key: 'container',
    title: 'State container',
    description: 'Values that outlive a firing; nodes use it by grant',
    group: 'Control',
  },
];

export function paletteEntries(types: ReadonlyMap<string, NodeManifest>): PaletteEntry[] {
  const entries = [...types.values()]
    .filter(({ nodeType }) => !hidden.has(nodeType))
    .map((manifest) => ({
      key: manifest.nodeType,
      title: manifest.displayName,
      description: manifest.description,
      group: groupOf(manifest),
    }));
  return [...entries, ...own];
}

/** The nodeset, or for built-in types their kind. */
function groupOf({ nodeType, kind, category }: NodeManifest): string {
  const separator = nodeType.indexOf('__');
  if (separator > 0) return nodeType.slice(0, separator);
  const word = kind || category || 'other';
  return word === 'llm' ? 'Language models' : word.charAt(0).toUpperCase() + word.slice(1);
}

export interface PaletteGroup {
  readonly name: string;
  readonly entries: readonly PaletteEntry[];
}

const firstGroups = ['Control', 'Viewer'];

/** Nodesets by name, then the built-in kinds. */
export function paletteGroups(entries: readonly PaletteEntry[], text: string): PaletteGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, PaletteEntry[]>();
  for (const entry of entries) {
    const all = `${entry.title} ${entry.key} ${entry.description} ${entry.group}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) continue;
    groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  }
  const rank = (name: string): number => {
    const at = firstGroups.indexOf(name);
    return at >= 0 ? 1 + at : /^[A-Z]/.test(name) ? 5 : 0;
  };
  const wanted = words.join(' ');
  // What is called what was typed comes first, and its group with it.
  const titled = ({ title }: PaletteEntry): number =>
    wanted === '' ? 2 : title.toLowerCase() === wanted ? 0 : title.toLowerCase().startsWith(wanted) ? 1 : 2;
  const best = (members: readonly PaletteEntry[]): number => Math.min(...members.map(titled));
  return [...groups]
    .map(([name, members]) => ({
      name,
      entries: members.toSorted(
        (one, other) => titled(one) - titled(other) || one.title.localeCompare(other.title),
      ),
    }))
    .toSorted(
      (one, other) =>
        best(one.entries) - best(other.entries) ||
        rank(one.name) - rank(other.name) ||
        one.name.localeCompare(other.name),
    );
}

export function addOfPalette(
  editor: Editor,
  types: ReadonlyMap<string, NodeManifest>,
  key: string,
  at: Position,
): readonly string[] {
  if (key === 'loop') return editor.add('Add loop', (level) => addLoop(level, at));
  if (key === 'container') return editor.add('Add container', (level) => addContainer(level, at));
  const manifest = types.get(key);
  return manifest ? editor.add(`Add ${manifest.displayName}`, (level) => addNode(level, manifest, at)) : [];
}

/** A saved graph as one node. */
export function addComposite(editor: Editor, name: string, definition: GraphDefinition, at: Position): void {
  editor.add(`Add ${name}`, (level): Added => {
    const id = freshId(takenIds(level), name.toLowerCase());
    const node = {
      id,
      type: 'compositeNode',
      label: definition.name || name,
      position: { x: Math.round(at.x), y: Math.round(at.y) },
      config: {},
      subgraph: { ...definition, kind: 'node' as const, eval_graph: false },
    };
    return { level: { ...level, nodes: [...level.nodes, node] }, ids: [id] };
  });
}
