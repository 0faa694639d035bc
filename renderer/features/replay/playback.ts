// Playing a recording: which step is shown and when the next one comes. Pure; the page feeds it the time that passed.

/** Steps per second at speed 1: slow enough to follow a decision. */
const baseRate = 4;
export const speeds = [0.5, 1, 2, 4, 8] as const;

export interface Playback {
  readonly step: number;
  readonly isPlaying: boolean;
  readonly speed: number;
  /** Time already spent on the step that is shown. */
  readonly spentMs: number;
}

export const atStart: Playback = { step: 0, isPlaying: false, speed: 1, spentMs: 0 };

export const atStep = (step: number): Playback => ({ ...atStart, step });

/** No further than the recording goes; -1 while that is unknown. */
export const within = (playback: Playback, lastStep: number): Playback =>
  lastStep >= 0 && playback.step > lastStep ? { ...playback, step: lastStep } : playback;

export const stepMs = (speed: number): number => 1000 / (baseRate * speed);

/** Moves on by the steps that fit in `elapsedMs`; stops at the last one. */
export function tick(playback: Playback, elapsedMs: number, lastStep: number): Playback {
  if (!playback.isPlaying) return playback;
  const perStepMs = stepMs(playback.speed);
  const spentMs = playback.spentMs + Math.max(0, elapsedMs);
  const passed = Math.floor(spentMs / perStepMs);
  const step = Math.min(lastStep, playback.step + passed);
  if (step >= lastStep) return { ...playback, step: Math.max(0, lastStep), isPlaying: false, spentMs: 0 };
  return { ...playback, step, spentMs: spentMs - passed * perStepMs };
}

/** Goes to a step within the recording; playing goes on from there. */
export function seek(playback: Playback, step: number, lastStep: number): Playback {
  return { ...playback, step: Math.min(Math.max(0, lastStep), Math.max(0, Math.round(step))), spentMs: 0 };
}

/** One step by hand ends playing. */
export function moveBy(playback: Playback, by: number, lastStep: number): Playback {
  return { ...seek(playback, playback.step + by, lastStep), isPlaying: false };
}

/** Plays from the beginning when there is nothing left to play. */
export function toggle(playback: Playback, lastStep: number): Playback {
  if (playback.isPlaying) return { ...playback, isPlaying: false, spentMs: 0 };
  if (lastStep <= 0) return playback;
  return { ...playback, isPlaying: true, spentMs: 0, step: playback.step >= lastStep ? 0 : playback.step };
}

/** The next speed up (1) or down (-1); the ends stay. */
export function changeSpeed(playback: Playback, by: 1 | -1): Playback {
  const at = speeds.findIndex((speed) => speed === playback.speed);
  return { ...playback, speed: speeds[at + by] ?? playback.speed };
}

/** The step a shorter recording shows beside a longer one: its last one once it is over. */
export const stepWithin = (step: number, lastStep: number): number => Math.max(0, Math.min(step, lastStep));
