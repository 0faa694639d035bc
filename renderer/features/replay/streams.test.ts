// The picture that is shown first is the one that changes, and a step without one keeps the last.
import { describe, expect, it } from 'vitest';
import type { RecordedStep } from '#contract/replay.ts';
import { pictureAt, preferredStream, sameStream } from './streams.ts';

const stream = (nodeId: string, port = 'rgb', isDepth = false) => ({
  nodeId,
  port,
  isDepth,
  width: 96,
  height: 72,
});
const node = (nodeId: string, nodeType: string, firings: number) => ({
  nodeId,
  nodeType,
  path: nodeId,
  firings,
  totalMs: 0,
});

describe('pictures of a recording', () => {
  const streams = [
    stream('start'),
    stream('loop_in', 'init_rgb'),
    stream('step', 'depth', true),
    stream('step'),
  ];
  const nodes = [
    node('start', 'env__observe', 1),
    node('loop_in', 'iterIn', 75),
    node('step', 'env__step', 75),
  ];

  it('come from the node that makes them most often, colour first', () => {
    expect(preferredStream(streams, nodes)).toBe(3);
    expect(preferredStream(streams.slice(0, 3), nodes)).toBe(2);
    expect(preferredStream([stream('loop_in')], nodes)).toBe(0);
    expect(preferredStream([], nodes)).toBe(-1);
  });

  it('are found by name in the other recording', () => {
    expect(sameStream([stream('step')], streams[3])).toBe(0);
    expect(sameStream([stream('other')], streams[3])).toBe(-1);
    expect(sameStream(streams, undefined)).toBe(-1);
  });

  it('stay while a step has none', () => {
    const asset = { address: '/a', mimeType: 'image/png', bytes: 1 };
    const steps: RecordedStep[] = [0, 1, 2].map((step) => ({
      step,
      firings: 1,
      atMs: 0,
      errors: 0,
      images: step === 1 ? [{ stream: 0, asset, low: null, high: null }] : [],
      action: null,
      position: null,
    }));
    const at = (step: number) => steps[step];
    const shown = [0, 1, 2].map((step) => pictureAt(at, step, 0)?.asset.address ?? null);
    expect(shown).toEqual([null, '/a', '/a']);
    expect(pictureAt(at, 2, 1)).toBeNull();
  });
});
