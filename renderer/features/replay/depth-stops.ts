// Colours of depth from near to far: viridis (van der Walt and Smith, matplotlib, CC0) at nine even places, reversed.

type Colour = readonly [red: number, green: number, blue: number];

export const depthStops: readonly Colour[] = [
  [0.993, 0.906, 0.144],
  [0.678, 0.864, 0.19],
  [0.369, 0.789, 0.383],
  [0.158, 0.684, 0.502],
  [0.128, 0.567, 0.551],
  [0.173, 0.449, 0.558],
  [0.231, 0.318, 0.545],
  [0.279, 0.175, 0.483],
  [0.267, 0.005, 0.329],
];
