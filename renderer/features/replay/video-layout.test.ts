// Videos have even sides, frames do not overlap, and captions fit.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitText, layoutOf } from './video-layout.ts';

describe('video layout', () => {
  it('enlarges small frames by whole factors and bounds large ones', () => {
    expect(layoutOf([{ width: 96, height: 72 }]).boxes[0]).toMatchObject({ width: 480, height: 360 });
    expect(layoutOf([{ width: 1920, height: 1080 }]).boxes[0]).toMatchObject({ width: 960, height: 540 });
  });

  it('has even sides and frames that do not overlap', () => {
    const size = fc.record({
      width: fc.integer({ min: 1, max: 3000 }),
      height: fc.integer({ min: 1, max: 3000 }),
    });
    fc.assert(
      fc.property(fc.array(size, { minLength: 1, maxLength: 2 }), (frames) => {
        const { width, height, boxes, captionHeight } = layoutOf(frames);
        expect([width % 2, height % 2]).toEqual([0, 0]);
        for (const [at, box] of boxes.entries()) {
          expect(box.x + box.width).toBeLessThanOrEqual(boxes[at + 1]?.x ?? width);
          expect(box.y).toBeGreaterThanOrEqual(captionHeight);
          expect(box.y + box.height).toBeLessThanOrEqual(height);
        }
      }),
      { seed: 11 },
    );
  });

  it('cuts a caption only when it is too long', () => {
    const measure = (text: string): number => text.length * 10;
    expect(fitText('short', 50, measure)).toBe('short');
    expect(fitText('rather long', 60, measure)).toBe('rathe…');
    expect(fitText('none', 5, measure)).toBe('…');
  });
});
