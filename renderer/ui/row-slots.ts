// Which element draws which row: a fixed number of them in turn, so that a row that leaves lends its element, texts and
// all, to the one that comes in.

const step = 8;

/** More than can be drawn at once, in steps, so that a window dragged larger does not draw everything anew. */
export function slotsFor(
  viewportPx: number,
  { rowHeight, overscan }: { readonly rowHeight: number; readonly overscan: number },
): number {
  const drawnAtMost = Math.ceil(viewportPx / rowHeight) + 1 + 2 * overscan;
  return Math.ceil(Math.max(1, drawnAtMost) / step) * step;
}

export const slotOf = (position: number, slots: number): number => position % slots;

/**
 * The order of the elements in the document. At rest it is the order in which rows are seen and read out; while the
 * table scrolls no element changes its place, because moving one costs as much as making it.
 */
export class SlotOrder {
  #places = new Map<number, number>();

  arrange<Drawn extends { readonly index: number }>(
    drawn: readonly Drawn[],
    slots: number,
    isHeld: boolean,
  ): readonly Drawn[] {
    const placeOf = ({ index }: Drawn): number => this.#places.get(slotOf(index, slots)) ?? slots;
    const arranged = isHeld ? drawn.toSorted((one, other) => placeOf(one) - placeOf(other)) : drawn;
    this.#places = new Map(arranged.map(({ index }, place) => [slotOf(index, slots), place]));
    return arranged;
  }
}
