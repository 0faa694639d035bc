// A value that follows another at most every so often, the last one always included.
import { useEffect, useRef, useState } from 'react';

export function useThrottled<T>(value: T, everyMs: number): T {
  const [shown, setShown] = useState(value);
  const lastAt = useRef(0);
  useEffect(() => {
    const waitMs = Math.max(0, lastAt.current + everyMs - performance.now());
    const timer = setTimeout(() => {
      lastAt.current = performance.now();
      setShown(value);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [value, everyMs]);
  return shown;
}
