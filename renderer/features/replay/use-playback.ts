// The clock of a page of recordings: one for both sides, driven by animation frames while it plays. It starts at the
// step of the address, and leaves there where it stands.
import { useCallback, useEffect, useRef, useState } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { useAnimationClock } from '../../ui/use-animation-clock.ts';
import { useStepInAddress } from '../../ui/use-step-in-address.ts';
import { atStep, changeSpeed, moveBy, seek, tick, toggle, within, type Playback } from './playback.ts';

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
  const { navigation } = useStudio();
  const [moved, setPlayback] = useState<Playback>(() => atStep(navigation.get().step ?? 0));
  // An address may name a step that is not there, or not read yet.
  const playback = within(moved, lastStep);
  const { step, isPlaying } = playback;
  const onAsked = useCallback(
    (asked: number) => setPlayback((state) => ({ ...atStep(asked), speed: state.speed })),
    [],
  );
  useStepInAddress({ page: 'replay', step, isPlaying, lastStep, onAsked });
  const last = useRef(lastStep);
  useEffect(() => {
    last.current = lastStep;
  });
  useAnimationClock(isPlaying, (elapsedMs) => setPlayback((state) => tick(state, elapsedMs, last.current)));
  const change = useCallback(
    (move: (state: Playback, lastStep: number) => Playback) =>
      setPlayback((state) => move(within(state, last.current), last.current)),
    [],
  );
  return {
    playback,
    lastStep,
    toggle: useCallback(() => change(toggle), [change]),
    seek: useCallback((to: number) => change((state, end) => seek(state, to, end)), [change]),
    moveBy: useCallback((by: number) => change((state, end) => moveBy(state, by, end)), [change]),
    changeSpeed: useCallback((by: 1 | -1) => change((state) => changeSpeed(state, by)), [change]),
    setSpeed: useCallback((speed: number) => change((state) => ({ ...state, speed })), [change]),
  };
}
