// Like actors of a model may change places: under which names a state is looked at.

/** Every order of the actors from `first` on, as the new place of each; those before keep theirs. */
export function renamings(actors: number, first = 0): number[][] {
  const fixed = Array.from({ length: first }, (_item, at) => at);
  const free = Array.from({ length: actors - first }, (_item, at) => first + at);
  return orders(free).map((order) => [...fixed, ...order]);
}

function orders(places: readonly number[]): number[][] {
  if (places.length === 0) return [[]];
  return places.flatMap((place) =>
    orders(places.filter((other) => other !== place)).map((rest) => [place, ...rest]),
  );
}
