// Playback moves by whole steps, whatever the pieces the time comes in, and stays inside the recording.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  atStart,
  atStep,
  changeSpeed,
  moveBy,
  seek,
  speeds,
  stepMs,
  stepWithin,
  tick,
  toggle,
  within,
  type Playback,
} from './playback.ts';

const playing = { ...atStart, isPlaying: true };

describe('playback', () => {
  it('shows each step for a quarter of a second at speed 1', () => {
    expect(tick(playing, 249, 10).step).toBe(0);
    expect(tick(playing, 250, 10).step).toBe(1);
    expect(tick({ ...playing, speed: 8 }, 250, 10).step).toBe(8);
    expect(tick({ ...playing, speed: 0.5 }, 499, 10).step).toBe(0);
  });

  it('comes to the same step in many small pieces as in one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 60 }),
        fc.constantFrom(...speeds),
        (pieces, speed) => {
          const start: Playback = { ...playing, speed };
          const total = pieces.reduce((sum, piece) => sum + piece, 0);
          const inPieces = pieces.reduce<Playback>((state, piece) => tick(state, piece, 1_000_000), start);
          expect(inPieces.step).toBe(Math.floor(total / stepMs(speed)));
          expect(tick(start, total, 1_000_000).step).toBe(inPieces.step);
        },
      ),
      { seed: 7 },
    );
  });

  it('stops at the last step and plays again from the first', () => {
    const ended = tick(playing, 60_000, 5);
    expect(ended).toMatchObject({ step: 5, isPlaying: false });
    expect(toggle(ended, 5)).toMatchObject({ step: 0, isPlaying: true });
    expect(toggle({ ...atStart, step: 3 }, 5)).toMatchObject({ step: 3, isPlaying: true });
    expect(toggle(playing, 5).isPlaying).toBe(false);
    expect(toggle(atStart, 0).isPlaying).toBe(false);
  });

  it('does not move while it is paused', () => {
    expect(tick({ ...atStart, step: 2 }, 10_000, 9)).toEqual({ ...atStart, step: 2 });
  });

  it('keeps every place inside the recording', () => {
    expect(seek(playing, 99, 5)).toMatchObject({ step: 5, isPlaying: true });
    expect(seek(playing, -4, 5).step).toBe(0);
    expect(seek(playing, 3, -1).step).toBe(0);
    expect(moveBy({ ...playing, step: 5 }, 1, 5)).toMatchObject({ step: 5, isPlaying: false });
    expect(stepWithin(9, 4)).toBe(4);
    expect(stepWithin(2, -1)).toBe(0);
  });

  it('goes through the speeds and stays at the ends', () => {
    expect(changeSpeed(atStart, 1).speed).toBe(2);
    expect(changeSpeed({ ...atStart, speed: 8 }, 1).speed).toBe(8);
    expect(changeSpeed({ ...atStart, speed: 0.5 }, -1).speed).toBe(0.5);
  });

  it('begins at the step of an address, as far as the recording goes', () => {
    expect(within(atStep(12), -1).step).toBe(12);
    expect(within(atStep(12), 20).step).toBe(12);
    expect(within(atStep(12), 4).step).toBe(4);
    expect(moveBy(within(atStep(12), 4), -1, 4).step).toBe(3);
  });
});
