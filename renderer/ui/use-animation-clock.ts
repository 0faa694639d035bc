// The time between animation frames, for whatever plays.
import { useEffect, useEffectEvent } from 'react';

/** Frames that come late (another tab was in front) do not make it jump. */
const greatestGapMs = 250;

/** Calls `onElapsed` with the milliseconds since the frame before, while it plays. */
export function useAnimationClock(isPlaying: boolean, onElapsed: (elapsedMs: number) => void): void {
  const elapsed = useEffectEvent(onElapsed);
  useEffect(() => {
    if (!isPlaying) return undefined;
    let before = performance.now();
    let frame = 0;
    const onFrame = (nowMs: number): void => {
      const elapsedMs = Math.min(greatestGapMs, nowMs - before);
      before = nowMs;
      elapsed(elapsedMs);
      frame = requestAnimationFrame(onFrame);
    };
    frame = requestAnimationFrame(onFrame);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);
}
