// The cursor of a recorded episode: over borders of steps, waiting for what is not read, and to its ends.
import { describe, expect, it } from 'vitest';
import {
  changeEpisodeSpeed,
  cursorAt,
  doneOf,
  moveFirings,
  moveSteps,
  seekStep,
  tickEpisode,
  toggleEpisode,
  type EpisodeExtent,
} from './episode-cursor.ts';

const extent = (...firings: readonly (number | undefined)[]): EpisodeExtent => ({
  lastStep: firings.length - 1,
  firingsOf: (step) => firings[step],
});
const whole = extent(3, 2, 4);
const place = ({ step, done }: { step: number; done: number }): number[] => [step, done];

describe('the cursor of a recorded episode', () => {
  it('shows all firings of the step it is sent to', () => {
    expect(doneOf(cursorAt(1), whole)).toBe(2);
    expect(doneOf(cursorAt(1), extent(3, undefined))).toBeUndefined();
    expect(seekStep(cursorAt(0), 99, whole).step).toBe(2);
    expect(moveSteps(cursorAt(0), -1, whole).step).toBe(0);
  });

  it('walks every firing of every step in order, and back', () => {
    let cursor = { ...cursorAt(0), done: 1 };
    const seen = [place(cursor)];
    for (let count = 0; count < 10; count++) {
      cursor = moveFirings(cursor, 1, whole);
      seen.push(place(cursor));
    }
    expect(seen.slice(0, 9)).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
      [2, 3],
      [2, 4],
    ]);
    expect(seen.at(-1)).toEqual([2, 4]);
    const back: (number | undefined)[][] = [];
    for (let count = 0; count < 9; count++) {
      cursor = moveFirings(cursor, -1, whole);
      back.push([cursor.step, doneOf(cursor, whole)]);
    }
    expect(back).toEqual([
      [2, 3],
      [2, 2],
      [2, 1],
      [1, 2],
      [1, 1],
      [0, 3],
      [0, 2],
      [0, 1],
      [0, 1],
    ]);
  });

  it('plays eight firings a second, ends by itself, and begins again', () => {
    const playing = toggleEpisode({ ...cursorAt(0), done: 1 }, whole);
    expect(place(tickEpisode(playing, 125, whole))).toEqual([0, 2]);
    expect(place(tickEpisode(playing, 124, whole))).toEqual([0, 1]);
    const ended = tickEpisode(playing, 60_000, whole);
    expect([...place(ended), ended.isPlaying]).toEqual([2, 4, false]);
    expect(toggleEpisode(ended, whole)).toMatchObject({ step: 0, done: 1, isPlaying: true });
    expect(place(tickEpisode(changeEpisodeSpeed(playing, 1), 125, whole))).toEqual([1, 2]);
    expect(changeEpisodeSpeed({ ...playing, speed: 64 }, 1).speed).toBe(64);
  });

  it('waits where the next step is not read yet, without running ahead afterwards', () => {
    const half = extent(2, undefined, 2);
    const waiting = tickEpisode(toggleEpisode({ ...cursorAt(0), done: 2 }, half), 125, half);
    expect(waiting).toMatchObject({ step: 1, done: 1, isPlaying: true });
    const later = tickEpisode(waiting, 10_000, half);
    expect(later).toMatchObject({ step: 1, done: 1, isPlaying: true, spentMs: 0 });
    expect(place(tickEpisode(later, 125, whole))).toEqual([1, 2]);
  });

  it('does nothing in an episode without firings', () => {
    const empty = extent();
    expect(toggleEpisode(cursorAt(0), empty).isPlaying).toBe(false);
    expect(moveFirings(cursorAt(0), 1, empty)).toMatchObject({ step: 0, isPlaying: false });
    expect(doneOf(cursorAt(0), extent(0))).toBe(0);
  });
});
