// One drawn row. Drawn anew only when its own row object, place or selection changed. A hot path: its element is lent
// from row to row while the table scrolls.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- virtual rows cannot be table rows: the roles are the table */
import { memo, useLayoutEffect, useRef } from 'react';
import type { GridItem } from './grid-types.ts';
import type { VisibleColumn } from './use-column-model.tsx';

export interface GridRowProps<Row> {
  /** Not there while it is fetched. */
  readonly item: GridItem<Row> | undefined;
  readonly position: number;
  readonly start: number;
  readonly columns: readonly VisibleColumn<Row>[];
  readonly isSelected: boolean;
  readonly activeColumn: number;
  readonly idPrefix: string;
  readonly onSelect: (position: number) => void;
  readonly onOpen: (position: number) => void;
}

function GridRowInner<Row>(props: GridRowProps<Row>) {
  const { item, position, start, columns, isSelected, activeColumn, idPrefix } = props;
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => () => giveUpFocus(element.current), [item?.key]);
  const place = { transform: `translateY(${start}px)` };
  if (!item) return <div className="grid-row" style={place} />;
  if (item.kind === 'group')
    return (
      <div role="row" aria-rowindex={position + 2} className="grid-row group" style={place}>
        <div role="gridcell" id={`${idPrefix}-${position}-0`} className="cell">
          {item.label}
        </div>
      </div>
    );
  return (
    // Keys are the table's: it holds the focus and names the active cell.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      ref={element}
      role="row"
      aria-rowindex={position + 2}
      aria-selected={isSelected}
      className={isSelected ? 'grid-row grid-columns selected' : 'grid-row grid-columns'}
      style={place}
      onClick={() => props.onSelect(position)}
      onDoubleClick={() => props.onOpen(position)}
    >
      {columns.map(({ column }, at) => (
        <div
          key={column.id}
          role="gridcell"
          aria-colindex={at + 1}
          id={`${idPrefix}-${position}-${at}`}
          className={cellClass(column.align === 'end', at === activeColumn)}
        >
          {column.cell(item.row)}
        </div>
      ))}
    </div>
  );
}

const cellClass = (isEnd: boolean, isActive: boolean): string =>
  `cell${isEnd ? ' end' : ''}${isActive ? ' active' : ''}`;

/** The element shows another row now: a control in it that had the focus must not act on that one. */
function giveUpFocus(element: HTMLElement | null): void {
  if (element?.contains(document.activeElement))
    element.closest<HTMLElement>('[role=grid]')?.focus({ preventScroll: true });
}

export const GridRow = memo(GridRowInner, (before, after) => {
  const isSameItem =
    before.item?.kind === 'row' &&
    after.item?.kind === 'row' &&
    before.item.row === after.item.row &&
    before.item.key === after.item.key;
  return (
    isSameItem &&
    before.position === after.position &&
    before.start === after.start &&
    before.columns === after.columns &&
    before.isSelected === after.isSelected &&
    before.activeColumn === after.activeColumn &&
    before.onSelect === after.onSelect &&
    before.onOpen === after.onOpen
  );
}) as typeof GridRowInner;
