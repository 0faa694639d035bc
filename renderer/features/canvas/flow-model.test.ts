// What the drawing library is given: places known beforehand, and the same objects for what did not change.
import { describe, expect, it } from 'vitest';
import type { GraphDefinition } from '#contract/graph.ts';
import { handlesOf, type Manifests } from '../../canvas-model/handles.ts';
import { emptyGraph } from '../../canvas-model/levels.ts';
import { moveItems } from '../../canvas-model/node-commands.ts';
import { flowEdges, flowNodes, nodeWidth, type FlowNode } from './flow-model.ts';

const nothingKnown: Manifests = { manifestOf: () => undefined };
const nodeAt = (id: string, x: number) => ({ id, type: 'any', label: id, position: { x, y: 0 }, config: {} });
const graph: GraphDefinition = {
  ...emptyGraph('drawn'),
  nodes: [nodeAt('a', 0), nodeAt('b', 300), { ...nodeAt('note', 600), type: 'note' }],
  edges: [{ id: 'e', source: 'a', target: 'b', sourceHandle: 'out', targetHandle: 'in' }],
};
const selection = { ids: new Set<string>(), edges: new Set<string>() };
const drawn = (level: GraphDefinition, before: readonly FlowNode[] = [], ids: readonly string[] = []) =>
  flowNodes(level, handlesOf(level, nothingKnown), {
    types: new Map(),
    selection: { ...selection, ids: new Set(ids) },
    before,
  });

describe('the drawn graph', () => {
  it('says where handles are before anything is measured, except where content decides the height', () => {
    const [a, , note] = drawn(graph);
    expect(a).toMatchObject({
      measured: { width: nodeWidth, height: 41 + 20 + 28 },
      handles: [{ id: 'out', type: 'source', x: nodeWidth - 5, y: 39 }],
    });
    expect(note?.measured).toBeUndefined();
    expect(note?.handles).toBeUndefined();
  });

  it('keeps the objects of nodes and wires that did not change', () => {
    const before = drawn(graph);
    const moved = moveItems(graph, new Map([['b', { x: 310, y: 40 }]]));
    const after = drawn(moved, before);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(after[1]).toMatchObject({ position: { x: 310, y: 40 }, measured: before[1]?.measured });
    const handles = handlesOf(graph, nothingKnown);
    const wires = flowEdges(graph, handles, new Set());
    expect(flowEdges(moved, handlesOf(moved, nothingKnown), new Set())[0]).toBe(wires[0]);
    expect(flowEdges(graph, handles, new Set(['e']))[0]).toMatchObject({ id: 'e', selected: true });
    expect(
      drawn(graph, before, ['a']).map((node) => node === before.find(({ id }) => id === node.id)),
    ).toEqual([false, true, true]);
  });

  it('measures a node again when its ports changed', () => {
    const before = drawn(graph).map((node) => ({ ...node, measured: { width: nodeWidth, height: 500 } }));
    const wired = {
      ...graph,
      edges: [
        ...graph.edges,
        { id: 'f', source: 'a', target: 'b', sourceHandle: 'out', targetHandle: 'more' },
      ],
    };
    const after = drawn(wired, before);
    expect(after[0]?.measured?.height).toBe(500);
    expect(after[1]?.measured?.height).toBe(41 + 40 + 28);
  });
});
