// A recorded step on the graph, firing by firing, and recorded values in the forms the canvas draws.
import { describe, expect, it } from 'vitest';
import type { RecordedFiring, RecordedValue } from '#contract/replay.ts';
import { drawnValueOf } from './drawn-value.ts';
import { detailOf, nodesAfter } from './episode-state.ts';

const firing = (nodeId: string, line: number, more: Partial<RecordedFiring> = {}): RecordedFiring => ({
  line,
  step: 4,
  phase: 'loop',
  nodeId,
  nodeType: 'textParse',
  path: nodeId,
  atMs: line,
  durationMs: 2,
  error: null,
  inputs: [],
  outputs: [{ port: 'value', value: { kind: 'number', value: line } }],
  log: [],
  ...more,
});
const step = [firing('a', 10), firing('b', 11), firing('a', 12), firing('c', 13, { error: 'broke' })];

describe('a recorded step', () => {
  it('shows the nodes that fired so far and the one the cursor is at', () => {
    expect(nodesAfter(step, 0).size).toBe(0);
    const second = nodesAfter(step, 2);
    expect([...second.keys()]).toEqual(['a', 'b']);
    expect(second.get('b')).toMatchObject({ isFiring: true, firings: 1 });
    expect(second.get('a')).toMatchObject({ isFiring: false });
    const third = nodesAfter(step, 3);
    expect(third.get('a')).toMatchObject({ isFiring: true, firings: 2, totalMs: 4, step: 4 });
    expect(third.get('b')).toMatchObject({ isFiring: false });
    expect(nodesAfter(step, Infinity).get('c')).toMatchObject({ error: 'broke' });
  });

  it('tells a firing with the numbers of its node in the whole episode', () => {
    const nodes = [{ nodeId: 'a', nodeType: 'textParse', path: 'a', firings: 31, totalMs: 55 }];
    const detail = detailOf(step[2] ?? firing('', 0), nodes);
    expect(detail).toMatchObject({
      node: { nodeId: 'a', firings: 31, totalMs: 55, step: 4 },
      outputs: [{ port: 'value', value: { kind: 'number', value: 12 } }],
    });
  });
});

describe('recorded values', () => {
  const json = (text: string): RecordedValue => ({ kind: 'json', text, length: text.length, asset: null });
  it.each<[RecordedValue, unknown]>([
    [json('{"position":[1,2,3],"orientation":[0,0,0,1]}'), { kind: 'pose', position: [1, 2, 3] }],
    [json('{"success":1,"spl":0.1234567}'), { kind: 'table', rows: [{}, { name: 'spl', value: '0.12346' }] }],
    [json('[1,2]'), { kind: 'text', text: '[1,2]', isCut: false }],
    [json('{"deep":{"er":1}}'), { kind: 'text', isCut: false }],
    [
      { kind: 'json', text: '{"cut', length: 900, asset: null },
      { kind: 'text', isCut: true },
    ],
    [
      { kind: 'text', text: 'begin', length: 900, asset: null },
      { kind: 'text', isCut: true },
    ],
    [
      { kind: 'tensor', dtype: 'float32', shape: [2], preview: [0.123456789, 1], asset: null },
      { kind: 'text', text: 'float32 (2)\n0.12346, 1' },
    ],
    [
      {
        kind: 'image',
        asset: { address: '/assets/r/k/a.png', mimeType: 'image/png', bytes: 1 },
        width: 8,
        height: 6,
        isDepth: true,
        low: 0.5,
        high: 10,
      },
      { kind: 'picture', address: '/assets/r/k/a.png', note: '8 × 6 · 0.500 to 10.0' },
    ],
    [{ kind: 'empty' }, { kind: 'empty' }],
  ])('%o', (recorded, drawn) => {
    expect(drawnValueOf(recorded)).toMatchObject(drawn as object);
  });
});
