// The width of an element, known before the first paint and followed as it changes.
import { useLayoutEffect, useState, type RefObject } from 'react';

export function useElementWidth(element: RefObject<HTMLElement | null>): number | null {
  const [width, setWidth] = useState<number | null>(null);
  useLayoutEffect(() => {
    const watched = element.current;
    if (!watched) return undefined;
    // Before the first paint: what does not fit is never drawn.
    // oxlint-disable-next-line react/set-state-in-effect
    setWidth(watched.clientWidth);
    const observer = new ResizeObserver(() => setWidth(watched.clientWidth));
    observer.observe(watched);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
