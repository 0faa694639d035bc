// What keys do in a table: arrows move, Enter opens, Space ticks, Ctrl/Cmd-C copies the cell.
import type { KeyboardEvent } from 'react';
import { chordOf, resolveKey } from '../app/key-bindings.ts';
import { copyText } from './copy-button.tsx';
import type { GridColumn, GridItem } from './grid-types.ts';
import { isMac } from './platform.ts';

/** What the keys need of a table. */
export interface KeyedTable<Row> {
  readonly count: number;
  readonly itemAt: (position: number) => GridItem<Row> | undefined;
  /** Position of the selected row, -1 for none. */
  readonly selected: number;
  readonly onSelect: (position: number) => void;
  readonly onOpen: (position: number) => void;
  readonly onTick?: ((position: number) => void) | undefined;
}

export interface KeyContext<Row> extends KeyedTable<Row> {
  readonly page: number;
  readonly activeColumn: number;
  readonly setActiveColumn: (column: number) => void;
  readonly visible: readonly { readonly column: GridColumn<Row> }[];
}

/** True when the key meant something to the table. */
export function handleKey<Row>(event: KeyboardEvent, context: KeyContext<Row>): boolean {
  const chord = chordOf(event, isMac);
  const outcome = chord === null ? null : resolveKey(chord, null, ['table']);
  if (outcome?.kind !== 'command') return false;
  const { count, selected, page, activeColumn, visible } = context;
  const move = (to: number): boolean => {
    if (count > 0) context.onSelect(Math.min(count - 1, Math.max(0, to)));
    return true;
  };
  const side = (to: number): boolean => {
    context.setActiveColumn(Math.min(visible.length - 1, Math.max(0, to)));
    return true;
  };
  switch (outcome.id) {
    case 'table.up':
      return move(selected < 0 ? 0 : selected - 1);
    case 'table.down':
      return move(selected + 1);
    case 'table.pageUp':
      return move(selected - page);
    case 'table.pageDown':
      return move(selected + page);
    case 'table.first':
      return move(0);
    case 'table.last':
      return move(count - 1);
    case 'table.left':
      return side(activeColumn - 1);
    case 'table.right':
      return side(activeColumn + 1);
    case 'table.open':
      if (selected >= 0) context.onOpen(selected);
      return selected >= 0;
    case 'table.tick':
      if (selected >= 0) context.onTick?.(selected);
      return context.onTick !== undefined;
    case 'table.copy':
      return copyCell(context);
    default:
      return false;
  }
}

/** Copies the active cell, unless text is selected: then the browser copies that. */
function copyCell<Row>(context: KeyContext<Row>): boolean {
  const item = context.selected < 0 ? undefined : context.itemAt(context.selected);
  const column = context.visible[context.activeColumn]?.column;
  if (item?.kind !== 'row' || !column || !(getSelection()?.isCollapsed ?? true)) return false;
  void copyText(column.text(item.row));
  return true;
}
