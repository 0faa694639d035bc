// The clock of a page of recordings: one for both sides, driven by animation frames while it plays.
import { useCallback, useEffect, useRef, useState } from 'react';
import { useAnimationClock } from '../../ui/use-animation-clock.ts';
import { atStart, changeSpeed, moveBy, seek, tick, toggle, type Playback } from './playback.ts';

export interface Player {
  readonly playback: Playback;
  readonly lastStep: number;
  readonly toggle: () => void;
  readonly seek: (step: number) => void;
  readonly moveBy: (by: number) => void;
  readonly changeSpeed: (by: 1 | -1) => void;
  readonly setSpeed: (speed: number) => void;
}

export function usePlayback(lastStep: number): Player {
  const [playback, setPlayback] = useState<Playback>(atStart);
  const { isPlaying } = playback;
  const last = useRef(lastStep);
  useEffect(() => {
    last.current = lastStep;
  });
  useAnimationClock(isPlaying, (elapsedMs) => setPlayback((state) => tick(state, elapsedMs, last.current)));
  return {
    playback,
    lastStep,
    toggle: useCallback(() => setPlayback((state) => toggle(state, last.current)), []),
    seek: useCallback((step: number) => setPlayback((state) => seek(state, step, last.current)), []),
    moveBy: useCallback((by: number) => setPlayback((state) => moveBy(state, by, last.current)), []),
    changeSpeed: useCallback((by: 1 | -1) => setPlayback((state) => changeSpeed(state, by)), []),
    setSpeed: useCallback((speed: number) => setPlayback((state) => ({ ...state, speed })), []),
  };
}
