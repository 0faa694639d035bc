// Wilson's score interval of a rate (Wilson 1927), 95 %.
const z = 1.959963984540054;

/** Lower and upper end, 0 to 1. */
export function wilsonInterval(successes: number, count: number): readonly [number, number] {
  const rate = successes / count;
  const centre = rate + (z * z) / (2 * count);
  const spread = z * Math.sqrt((rate * (1 - rate)) / count + (z * z) / (4 * count * count));
  const scale = 1 + (z * z) / count;
  return [(centre - spread) / scale, (centre + spread) / scale];
}
