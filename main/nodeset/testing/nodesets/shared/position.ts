// Imported by counter.ts, so that its bundle has two inputs.

export function describePosition(position: number): string {
  return `at ${position}`;
}
