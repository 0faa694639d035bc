// Editor and engine together: what the canvas does to a graph, and what then stands in the file. Every shipped graph
// opens, lays out and is saved unchanged.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ElkConstructor from 'elkjs/lib/elk.bundled.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { builtinManifestSource, builtinManifests } from '../main/graph/builtin/catalog.ts';
import { parseGraph } from '../main/graph/definition.ts';
import { saveGraph } from '../main/graph/edit.ts';
import { addContainer, addState, setGrant } from '../renderer/canvas-model/container-commands.ts';
import { Editor } from '../renderer/canvas-model/editor.ts';
import { handlesOf } from '../renderer/canvas-model/handles.ts';
import { laidOut, layoutInput } from '../renderer/canvas-model/layout.ts';
import {
  addLoop,
  addNode,
  connect,
  moveItems,
  setConfig,
  setGraph,
  setLabel,
} from '../renderer/canvas-model/node-commands.ts';

const folder = fileURLToPath(new URL('../resources/graphs', import.meta.url));
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({ name, text: readFileSync(path.join(folder, name), 'utf8') }));

const open = (text: string): Editor => {
  let nowMs = 0;
  // As the window gets it: through JSON.
  const definition = JSON.parse(JSON.stringify(parseGraph(text)));
  return new Editor(
    { ref: 'x', name: 'x', text, definition, isLibrary: false },
    { manifests: () => builtinManifestSource, now: () => (nowMs += 10_000) },
  );
};

/** One random operation; `pick` chooses among what is there. */
function operate(editor: Editor, kind: number, pick: number): void {
  const { level } = editor;
  const items = [...level.nodes, ...level.containers];
  const id = items[pick % Math.max(1, items.length)]?.id ?? '';
  const other = level.nodes[(pick * 7 + 3) % Math.max(1, level.nodes.length)]?.id ?? '';
  const at = { x: pick % 1000, y: (pick * 3) % 700 };
  const manifest = builtinManifests[pick % builtinManifests.length];
  switch (kind) {
    case 0:
      return void (manifest && editor.add('Add', (before) => addNode(before, manifest, at)));
    case 1:
      return editor.apply('Move', (before) => moveItems(before, new Map([[id, at]])));
    case 2:
      return editor.apply('Config', (before) => setConfig(before, id, `field${pick % 3}`, pick));
    case 3:
      return editor.apply('Label', (before) => setLabel(before, id, `label ${pick}`));
    case 4:
      return editor.apply('Connect', (before) =>
        connect(
          before,
          { source: id, sourceHandle: 'value', target: other, targetHandle: pick % 2 ? '+' : 'value' },
          { manifestOf: (type) => builtinManifestSource.manifestOf(type), sourceType: 'ANY' },
        ),
      );
    case 5:
      editor.select([id], [level.edges[pick % Math.max(1, level.edges.length)]?.id ?? '']);
      return editor.removeSelected();
    case 6:
      editor.select([id, other]);
      return editor.group();
    case 7:
      editor.select(level.nodes.filter(({ subgraph }) => subgraph).map((node) => node.id));
      return editor.ungroup();
    case 8:
      return void editor.add('Loop', (before) => addLoop(before, at));
    case 9:
      editor.add('Container', (before) => addContainer(before, at));
      return editor.apply('State', (before) => {
        const container = before.containers.at(-1)?.id ?? '';
        return setGrant(addState(before, container), container, other, true);
      });
    case 10:
      editor.select([id, other]);
      return editor.duplicate();
    case 11: {
      const composite = level.nodes.find(({ subgraph }) => subgraph);
      return editor.open(composite && pick % 2 ? [composite.id] : []);
    }
    default:
      return editor.apply('Graph', (before) => setGraph(before, { step_budget: (pick % 500) + 1 }));
  }
}

describe('the canvas and the file', () => {
  it.each(files)('opens, lays out and saves $name unchanged', async ({ text }) => {
    const editor = open(text);
    expect(saveGraph(text, editor.root)).toBe(text);
    const handles = handlesOf(editor.level, builtinManifestSource);
    const elk = new ElkConstructor();
    const placed = await elk.layout(structuredClone(layoutInput(editor.level, handles, new Map())) as never);
    const positions = laidOut(editor.level, placed.children ?? []);
    expect(positions.size).toBe(editor.level.nodes.length + editor.level.containers.length);
    const corners = new Set([...positions.values()].map(({ x, y }) => `${x} ${y}`));
    expect(corners.size).toBe(positions.size);
    editor.apply('Lay out', (level) => moveItems(level, positions));
    expect(saveGraph(text, editor.root)).not.toBe(text);
    editor.undo();
    expect(saveGraph(text, editor.root)).toBe(text);
  });

  it('comes back to the identical file after 50 random operations are undone, and forth again', () => {
    const operations = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.nat(100_000)), {
      minLength: 50,
      maxLength: 50,
    });
    const graph = files.find(({ name }) => name === 'minivln_random.json') ?? files[0];
    const text = graph?.text ?? '';
    fc.assert(
      fc.property(operations, (list) => {
        const editor = open(text);
        for (const [kind, pick] of list) operate(editor, kind, pick);
        const edited = saveGraph(text, editor.root);
        expect(JSON.parse(edited)).toBeTypeOf('object');
        const { length } = editor.store.getState().history.past;
        for (let step = 0; step < length; step++) editor.undo();
        expect(saveGraph(text, editor.root)).toBe(text);
        for (let step = 0; step < length; step++) editor.redo();
        expect(saveGraph(text, editor.root)).toBe(edited);
        expect(parseGraph(edited)).toEqual(parseGraph(JSON.stringify(editor.root)));
      }),
      { seed: 11, numRuns: 40 },
    );
  });
});
