// Where a recorded episode stands while it is looked at: a step and how many of its firings are done. Pure; the page
// feeds it the time that passed. It waits at the border of a step until the next one is read.

/** Firings per second at speed 1: slow enough to see the order. */
const baseRate = 8;
export const episodeSpeeds = [0.25, 1, 4, 16, 64] as const;

export interface EpisodeCursor {
  readonly step: number;
  /** Firings of the step that are done, from 1; Infinity: all of them, however many that turns out to be. */
  readonly done: number;
  readonly isPlaying: boolean;
  readonly speed: number;
  /** Time already spent on the firing that is shown. */
  readonly spentMs: number;
}

/** What there is: the last step, and how many firings a step has; undefined while that is not read. */
export interface EpisodeExtent {
  readonly lastStep: number;
  readonly firingsOf: (step: number) => number | undefined;
}

export function cursorAt(step: number): EpisodeCursor {
  return { step: Math.max(0, step), done: Infinity, isPlaying: false, speed: 1, spentMs: 0 };
}

/** Firings that are done, as a number; undefined while the step is not read. */
export function doneOf({ step, done }: EpisodeCursor, extent: EpisodeExtent): number | undefined {
  const total = extent.firingsOf(step);
  return total === undefined ? undefined : Math.min(Math.max(done, Math.min(1, total)), total);
}

/** To the end of a step: all its firings done. Playing goes on from there. */
export function seekStep(cursor: EpisodeCursor, step: number, extent: EpisodeExtent): EpisodeCursor {
  const wanted = Math.min(Math.max(0, extent.lastStep), Math.max(0, Math.round(step)));
  return { ...cursor, step: wanted, done: Infinity, spentMs: 0 };
}

/** Whole steps by hand end playing. */
export function moveSteps(cursor: EpisodeCursor, by: number, extent: EpisodeExtent): EpisodeCursor {
  return { ...seekStep(cursor, cursor.step + by, extent), isPlaying: false };
}

/** One firing forward or back by hand ends playing; over the border of a step into the next one. */
export function moveFirings(cursor: EpisodeCursor, by: 1 | -1, extent: EpisodeExtent): EpisodeCursor {
  const moved = by === 1 ? onward(cursor, extent) : backward(cursor, extent);
  return { ...(moved ?? cursor), isPlaying: false, spentMs: 0 };
}

/** Undefined where nothing follows, or not yet. */
function onward(cursor: EpisodeCursor, extent: EpisodeExtent): EpisodeCursor | undefined {
  const total = extent.firingsOf(cursor.step);
  if (total === undefined) return undefined;
  const done = doneOf(cursor, extent) ?? 0;
  if (done < total) return { ...cursor, done: done + 1 };
  return cursor.step < extent.lastStep ? { ...cursor, step: cursor.step + 1, done: 1 } : undefined;
}

function backward(cursor: EpisodeCursor, extent: EpisodeExtent): EpisodeCursor | undefined {
  const done = doneOf(cursor, extent);
  if (done === undefined) return undefined;
  if (done > 1) return { ...cursor, done: done - 1 };
  return cursor.step > 0 ? { ...cursor, step: cursor.step - 1, done: Infinity } : undefined;
}

/** Moves on by the firings that fit in `elapsedMs`; stops at the end. */
export function tickEpisode(cursor: EpisodeCursor, elapsedMs: number, extent: EpisodeExtent): EpisodeCursor {
  if (!cursor.isPlaying) return cursor;
  const perFiringMs = 1000 / (baseRate * cursor.speed);
  let next: EpisodeCursor = { ...cursor, spentMs: cursor.spentMs + Math.max(0, elapsedMs) };
  while (next.spentMs >= perFiringMs) {
    const moved = onward(next, extent);
    // Time does not run while the next step is read.
    if (!moved) return { ...next, spentMs: 0, isPlaying: !isAtEnd(next, extent) };
    next = { ...moved, spentMs: next.spentMs - perFiringMs };
  }
  return next;
}

function isAtEnd(cursor: EpisodeCursor, extent: EpisodeExtent): boolean {
  const total = extent.firingsOf(cursor.step);
  return cursor.step >= extent.lastStep && total !== undefined && (doneOf(cursor, extent) ?? 0) >= total;
}

/** Plays from the beginning when there is nothing left to play. */
export function toggleEpisode(cursor: EpisodeCursor, extent: EpisodeExtent): EpisodeCursor {
  if (cursor.isPlaying) return { ...cursor, isPlaying: false, spentMs: 0 };
  if (extent.lastStep < 0) return cursor;
  const from = isAtEnd(cursor, extent) ? { step: 0, done: 1 } : {};
  return { ...cursor, ...from, isPlaying: true, spentMs: 0 };
}

/** The next speed up (1) or down (-1); the ends stay. */
export function changeEpisodeSpeed(cursor: EpisodeCursor, by: 1 | -1): EpisodeCursor {
  const at = episodeSpeeds.findIndex((speed) => speed === cursor.speed);
  return { ...cursor, speed: episodeSpeeds[at + by] ?? cursor.speed };
}
