// A page is whole however few steps come at a time, and ends where the recording does.
import { describe, expect, it } from 'vitest';
import type { RecordedStep } from '#contract/replay.ts';
import { readWholePage } from './read-steps.ts';

const stepOf = (step: number): RecordedStep => ({
  step,
  firings: 1,
  atMs: 0,
  errors: 0,
  images: [],
  action: null,
  position: null,
});

describe('pages of steps', () => {
  it('are filled from answers of a few steps each', async () => {
    const asked: [number, number][] = [];
    const steps = await readWholePage(
      async (fromStep, limit) => {
        asked.push([fromStep, limit]);
        return Array.from({ length: Math.min(3, limit, 58 - fromStep) }, (_unused, at) =>
          stepOf(fromStep + at),
        );
      },
      50,
      10,
    );
    expect(steps.map((step) => step.step)).toEqual([50, 51, 52, 53, 54, 55, 56, 57]);
    expect(asked).toEqual([
      [50, 10],
      [53, 7],
      [56, 4],
      [58, 2],
    ]);
  });
});
