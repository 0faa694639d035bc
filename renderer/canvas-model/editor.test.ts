// The editor without a window: commands, undo, groups, the clipboard, search, differences, recovery.
import { describe, expect, it } from 'vitest';
import { graphDefinition, type GraphDefinition } from '#contract/graph.ts';
import { nodeManifest, type NodeManifest } from '#contract/nodeset.ts';
import { copyText, parseFragment } from './clipboard.ts';
import { fieldsOf } from './config-fields.ts';
import { addContainer, addState, renameState, setGrant, setState } from './container-commands.ts';
import { differencesOf } from './difference.ts';
import { Editor, type SavedGraph } from './editor.ts';
import { findItems, placeOf } from './find.ts';
import { handlesOf, refusalOf, type Handles } from './handles.ts';
import { emptyGraph, levelAt } from './levels.ts';
import {
  addLoop,
  addNode,
  connect,
  moveItems,
  newPortHandle,
  setConfig,
  setLabel,
  setPortList,
} from './node-commands.ts';
import { sourceOf } from './play-state.ts';
import { dropDraft, findDraft, keepDraft, type DraftStorage } from './recovery.ts';

const port = (name: string, wireType: string, optional = false) => ({ name, wireType, optional });
const type = (
  nodeType: string,
  inputPorts: object[],
  outputPorts: object[],
  more: object = {},
): NodeManifest =>
  nodeManifest.parse({
    nodeType,
    displayName: nodeType.split('__').at(-1),
    inputPorts,
    outputPorts,
    ...more,
  });

const types = new Map(
  [
    type('toy__camera', [], [port('rgb', 'IMAGE'), port('pose', 'POSE')]),
    type(
      'toy__policy',
      [port('rgb', 'IMAGE'), port('hint', 'TEXT', true)],
      [port('action', 'DISCRETE_ACTION')],
    ),
    type('toy__frames', [port('images', 'LIST[IMAGE]')], [port('all', 'LIST[IMAGE]')]),
    type('iterIn', [], [port('step', 'ANY')]),
    type('iterOut', [port('stop', 'BOOL', true)], []),
    type('graphIn', [port('value', 'ANY', true)], [port('value', 'ANY')]),
    type('graphOut', [port('value', 'ANY', true)], [port('value', 'ANY')]),
  ].map((manifest) => [manifest.nodeType, manifest]),
);
const manifests = { manifestOf: (name: string) => types.get(name) };
const at = { x: 0, y: 0 };

const savedOf = (definition: GraphDefinition): SavedGraph => ({
  ref: '/w/graphs/toy.json',
  name: 'toy',
  text: JSON.stringify(definition),
  definition,
  isLibrary: false,
});
const open = (definition = emptyGraph('toy')): Editor => {
  let nowMs = 0;
  return new Editor(savedOf(definition), { manifests: () => manifests, now: () => (nowMs += 10_000) });
};
const add = (editor: Editor, name: string): string => {
  const manifest = types.get(name);
  if (!manifest) throw new Error(name);
  return editor.add('Add', (level) => addNode(level, manifest, at))[0] ?? '';
};
const wire = (editor: Editor, from: string, to: string): void => {
  const [source = '', sourceHandle = ''] = from.split('.');
  const [target = '', targetHandle = ''] = to.split('.');
  const sourceType =
    handles(editor)
      .get(source)
      ?.outputs.find(({ name }) => name === sourceHandle)?.wireType ?? 'ANY';
  editor.apply('Connect', (level) =>
    connect(
      level,
      { source, sourceHandle, target, targetHandle },
      { manifestOf: (name) => types.get(name), sourceType },
    ),
  );
};
const handles = (editor: Editor): ReadonlyMap<string, Handles> => handlesOf(editor.level, manifests);
const wires = (level: GraphDefinition): string[] =>
  level.edges.map(
    ({ source, sourceHandle, target, targetHandle }) => `${source}.${sourceHandle} ${target}.${targetHandle}`,
  );
const refusal = (editor: Editor, from: string, to: string): string | undefined => {
  const [source = '', sourceHandle = ''] = from.split('.');
  const [target = '', targetHandle = ''] = to.split('.');
  return refusalOf(editor.level, handles(editor), { source, sourceHandle, target, targetHandle });
};

/** camera -> policy -> frames side by side. */
const chain = (): Editor => {
  const editor = open();
  for (const name of ['toy__camera', 'toy__policy', 'toy__frames']) add(editor, name);
  wire(editor, 'camera.rgb', 'policy.rgb');
  wire(editor, 'camera.rgb', 'frames.images');
  return editor;
};

describe('editing', () => {
  it('adds nodes under free ids, wires them once, and takes what hangs on them away with them', () => {
    const editor = chain();
    expect(add(editor, 'toy__camera')).toBe('camera_2');
    wire(editor, 'camera.rgb', 'policy.rgb');
    expect(wires(editor.level)).toEqual(['camera.rgb policy.rgb', 'camera.rgb frames.images']);
    editor.select(['camera']);
    editor.removeSelected();
    expect(editor.level.nodes.map(({ id }) => id)).toEqual(['policy', 'frames', 'camera_2']);
    expect(editor.level.edges).toEqual([]);
    editor.undo();
    expect(wires(editor.level)).toHaveLength(2);
  });

  it('refuses wires that cannot be, each with its reason', () => {
    const editor = chain();
    expect(refusal(editor, 'camera.pose', 'policy.rgb')).toMatch(/POSE cannot enter a port of type IMAGE/);
    expect(refusal(editor, 'frames.all', 'policy.rgb')).toMatch(/list/i);
    expect(refusal(editor, 'policy.action', 'policy.hint')).toMatch(/itself/);
    expect(refusal(editor, 'camera.rgb', 'policy.rgb')).toMatch(/already/);
    expect(refusal(editor, 'camera.sound', 'policy.hint')).toMatch(/no output “sound”/);
    expect(refusal(editor, 'camera.rgb', `policy.${newPortHandle}`)).toMatch(/no further ports/);
    expect(refusal(editor, 'camera.rgb', 'frames.images')).toMatch(/already/);
  });

  it('makes loops whose ports come from the wires drawn to them', () => {
    const editor = chain();
    const [start = '', end = ''] = editor.add('Add loop', (level) => addLoop(level, at));
    wire(editor, 'camera.rgb', `${start}.${newPortHandle}`);
    wire(editor, 'camera.rgb', `${end}.${newPortHandle}`);
    expect(
      handles(editor)
        .get(start)
        ?.outputs.map(({ name, wireType }) => `${name} ${wireType}`),
    ).toEqual(['step ANY', 'init_rgb IMAGE', 'iterout_rgb IMAGE']);
    expect(
      handles(editor)
        .get(end)
        ?.outputs.map(({ name }) => name),
    ).toEqual(['final_rgb', 'final_stop']);
    wire(editor, `${start}.iterout_rgb`, 'policy.rgb');
    editor.apply('Rename', (level) =>
      setPortList(level, end, 'ports', [{ name: 'view', wire_type: 'IMAGE' }]),
    );
    expect(wires(editor.level)).toContain(`${start}.iterout_view policy.rgb`);
    expect(wires(editor.level)).toContain(`camera.rgb ${end}.view`);
    editor.select([end]);
    editor.removeSelected();
    expect(editor.level.nodes.find(({ id }) => id === start)?.config).not.toHaveProperty('pairedWith');
  });

  it('shows handles that only a wire names, so that no wire of a file is lost', () => {
    const editor = open(
      graphDefinition.parse({
        nodes: [
          { id: 'a', type: 'gone__thing' },
          { id: 'b', type: 'toy__policy' },
        ],
        edges: [{ id: 'e', source: 'a', target: 'b', sourceHandle: 'rgb' }],
      }),
    );
    expect(handles(editor).get('a')?.outputs).toEqual([
      { name: 'rgb', wireType: 'ANY', required: false, isUnknown: true },
    ]);
    expect(
      handles(editor)
        .get('b')
        ?.inputs.map(({ isUnknown }) => isUnknown),
    ).toEqual([false, false]);
  });

  it('joins quick changes of one field to one step, and is clean again after undo', () => {
    let nowMs = 0;
    const editor = new Editor(savedOf(chain().root), {
      manifests: () => manifests,
      now: () => (nowMs += 100),
    });
    for (const label of ['P', 'Po', 'Pol'])
      editor.apply('Rename', (level) => setLabel(level, 'policy', label), 'label policy');
    editor.apply('Set field', (level) => setConfig(level, 'policy', 'temperature', 1), 'temperature policy');
    expect(editor.store.getState().history.past).toHaveLength(2);
    editor.undo();
    expect(editor.level.nodes[1]?.label).toBe('Pol');
    editor.undo();
    expect(editor.isDirty).toBe(false);
    editor.redo();
    expect(editor.isDirty).toBe(true);
    editor.apply('Move', (level) => moveItems(level, new Map([['policy', at]])));
    expect(editor.store.getState().history.future).toHaveLength(1);
  });
});

describe('composites', () => {
  it('group and ungroup give the same wires, and the border carries the types', () => {
    const editor = chain();
    const before = editor.root;
    editor.select(['policy', 'frames']);
    editor.group();
    const composite = editor.level.nodes.find(({ id }) => id === 'composite');
    expect(wires(editor.level)).toEqual(['camera.rgb composite.rgb']);
    expect(handles(editor).get('composite')?.inputs).toEqual([
      { name: 'rgb', wireType: 'IMAGE', required: false, isUnknown: false },
    ]);
    expect(wires(composite?.subgraph ?? emptyGraph(''))).toEqual([
      'in_rgb.value policy.rgb',
      'in_rgb.value frames.images',
    ]);
    editor.select(['composite']);
    editor.ungroup();
    expect(wires(editor.level).toSorted()).toEqual(wires(before).toSorted());
    expect(editor.level.nodes.map(({ id }) => id).toSorted()).toEqual(['camera', 'frames', 'policy']);
    editor.undo();
    editor.undo();
    expect(editor.root).toBe(before);
  });

  it('refuse half of a loop and a container that others use', () => {
    const editor = chain();
    const [start = ''] = editor.add('Add loop', (level) => addLoop(level, at));
    editor.select([start]);
    editor.group();
    expect(editor.store.getState().refusal).toMatch(/half of a loop/);
    const [container = ''] = editor.add('Add', (level) => addContainer(level, at));
    editor.apply('Grant', (level) =>
      setGrant(setGrant(level, container, 'policy', true), container, 'camera', true),
    );
    editor.select(['policy']);
    editor.group();
    expect(editor.store.getState().refusal).toMatch(/used outside/);
    expect(editor.level.nodes.some(({ subgraph }) => subgraph)).toBe(false);
  });

  it('are edited inside, and the level closes when the composite is undone', () => {
    const editor = chain();
    editor.select(['policy']);
    editor.group();
    editor.open(['composite']);
    add(editor, 'toy__camera');
    expect(levelAt(editor.root, ['composite'])?.nodes.map(({ id }) => id)).toContain('camera');
    expect(sourceOf(editor.root, ['composite'], { source: 'in_rgb' })).toEqual({
      nodeId: 'camera',
      handle: 'rgb',
    });
    expect(sourceOf(editor.root, ['composite'], { source: 'policy', sourceHandle: 'action' })).toEqual({
      nodeId: 'composite__policy',
      handle: 'action',
    });
    editor.undo();
    editor.undo();
    expect(editor.store.getState().path).toEqual([]);
    expect(editor.level).toBe(editor.root);
  });
});

describe('containers', () => {
  it('hold states and grants, and lose the grants of what is removed', () => {
    const editor = chain();
    const [id = ''] = editor.add('Add', (level) => addContainer(level, at));
    expect(id).toBe('graph_state');
    editor.apply('State', (level) => addState(level, id));
    editor.apply('Rename', (level) => renameState(level, id, 'state', 'messages'));
    editor.apply('Type', (level) => setState(level, id, 'messages', { type: 'accumulator' }));
    editor.apply('Grant', (level) => setGrant(level, id, 'policy', true));
    expect(editor.level.containers[0]?.states['messages']).toMatchObject({
      type: 'accumulator',
      lifetime: 'episode',
    });
    editor.select(['policy']);
    editor.removeSelected();
    expect(editor.level.access_grants).toEqual([]);
  });
});

describe('the clipboard', () => {
  it('carries nodes, the wires between them and their pairing under free ids', () => {
    const editor = chain();
    editor.add('Add loop', (level) => addLoop(level, at));
    editor.selectAll();
    const text = editor.copy() ?? '';
    expect(editor.paste(text, { x: 100, y: 50 })).toBe(true);
    expect(wires(editor.level)).toContain('camera_2.rgb policy_2.rgb');
    expect(editor.level.nodes.find(({ id }) => id === 'loop_in_2')?.config['pairedWith']).toBe('loop_out_2');
    expect(editor.store.getState().selection.ids.size).toBe(5);
    const other = open();
    other.paste(text, at);
    expect(wires(other.level)).toEqual(wires(chain().level));
  });

  it('takes nothing that is no part of a graph', () => {
    for (const text of [
      'hello',
      '{}',
      '[1]',
      '{"nodes":[{"id":1}]}',
      '{"nodes":"x"}',
      `{${' '.repeat(9e6)}}`,
    ])
      expect(parseFragment(text)).toBeNull();
    const copied = copyText(chain().level, new Set(['policy']));
    expect(parseFragment(copied)?.edges).toEqual([]);
  });
});

describe('search and differences', () => {
  it('find nodes at every level, names before types before fields', () => {
    const editor = chain();
    editor.apply('Set', (level) => setConfig(level, 'frames', 'note', 'like a policy'));
    expect(findItems(editor.root, 'policy').map(({ id }) => id)).toEqual(['policy', 'frames']);
    editor.select(['policy']);
    editor.group();
    expect(findItems(editor.root, 'policy')[0]).toMatchObject({ id: 'policy', path: ['composite'] });
    expect(placeOf(editor.root, 'composite > policy')).toEqual({ path: ['composite'], id: 'policy' });
    expect(placeOf(editor.root, 'composite > gone')).toBeNull();
  });

  it('say what changed since the graph was saved', () => {
    const editor = open(chain().root);
    const saved = editor.root;
    editor.apply('Set', (level) => setConfig(level, 'policy', 'temperature', 0.5));
    editor.apply('Move', (level) => moveItems(level, new Map([['camera', { x: 9, y: 9 }]])));
    wire(editor, 'policy.action', 'frames.images');
    editor.select(['frames']);
    const lines = differencesOf(saved, editor.root).map(
      ({ kind, what, name, detail }) => `${kind} ${what} ${name} ${detail}`,
    );
    expect(lines).toEqual([
      'moved node camera ',
      'changed node policy temperature: unset → 0.5',
      'added wire policy.action → frames.images ',
    ]);
    expect(differencesOf(saved, saved)).toEqual([]);
  });
});

describe('config fields', () => {
  it('come from the type, its schema and the file, and fall back to JSON for what does not fit', () => {
    const manifest = type('toy__all', [], [], {
      defaultConfig: { depth: 2, size: 3 },
      configSchema: { properties: { mode: { enum: ['a', 'b'] }, on: { type: 'boolean' } } },
      uiConfig: {
        configFields: [
          { kind: 'slider', name: 'depth', min: 0, max: 4 },
          { kind: 'text', name: 'odd' },
        ],
      },
    });
    const fields = fieldsOf(
      {
        id: 'n',
        type: 'toy__all',
        label: '',
        position: at,
        config: { odd: { nested: 1 }, mode: 'b', extra: 'x' },
      },
      manifest,
    );
    expect(fields.map(({ name, kind, value, isSet }) => [name, kind, value, isSet])).toEqual([
      ['depth', 'slider', 2, false],
      ['odd', 'json', { nested: 1 }, true],
      ['mode', 'select', 'b', true],
      ['on', 'toggle', undefined, false],
      ['size', 'number', 3, false],
      ['extra', 'text', 'x', true],
    ]);
  });
});

describe('recovery', () => {
  it('keeps drafts apart per graph, survives rubbish, and says when the store is full', () => {
    const kept = new Map<string, string>();
    const storage: DraftStorage = {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    };
    const draft = { ref: '/a.json', originalText: '{}', definition: chain().root, savedAtMs: 5 };
    expect(keepDraft(storage, draft)).toBe(true);
    expect(findDraft(storage, '/a.json')).toEqual(draft);
    expect(findDraft(storage, null)).toBeNull();
    kept.set('agentcanvas.canvas.draft:new', '{"definition":');
    expect(findDraft(storage, null)).toBeNull();
    dropDraft(storage, '/a.json');
    expect(findDraft(storage, '/a.json')).toBeNull();
    const full: DraftStorage = {
      ...storage,
      setItem: () => {
        throw new Error('QuotaExceededError');
      },
    };
    expect(keepDraft(full, draft)).toBe(false);
  });
});
