// Durations beside nodes: three figures, never wider than six characters.
export function formatMs(milliseconds: number): string {
  if (milliseconds < 0.95) return '<1 ms';
  if (milliseconds < 9.95) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 9950) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
