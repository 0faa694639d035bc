import { describe, expect, it } from 'vitest';
import { SlotOrder, slotOf, slotsFor } from './row-slots.ts';

const window = (first: number, count: number) =>
  Array.from({ length: count }, (_row, at) => ({ index: first + at }));
const indexes = (rows: readonly { readonly index: number }[]): readonly number[] =>
  rows.map(({ index }) => index);

describe('elements lent from row to row', () => {
  it('are more than a window can show, wherever between two rows it stands', () => {
    const slots = slotsFor(560, { rowHeight: 28, overscan: 4 });
    expect(slots).toBeGreaterThanOrEqual(29);
    for (let first = 0; first < 3 * slots; first += 1)
      expect(new Set(window(first, 29).map(({ index }) => slotOf(index, slots))).size).toBe(29);
  });

  it('keep their places while the table scrolls, down and up', () => {
    const [order, slots] = [new SlotOrder(), 8];
    order.arrange(window(0, 8), slots, false);
    expect(indexes(order.arrange(window(3, 8), slots, true))).toEqual([8, 9, 10, 3, 4, 5, 6, 7]);
    expect(indexes(order.arrange(window(2, 8), slots, true))).toEqual([8, 9, 2, 3, 4, 5, 6, 7]);
  });

  it('stand in the order of the rows when it rests', () => {
    const order = new SlotOrder();
    order.arrange(window(0, 8), 8, false);
    order.arrange(window(3, 8), 8, true);
    expect(indexes(order.arrange(window(3, 8), 8, false))).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
