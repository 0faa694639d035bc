// A virtual table: rows come from an index by position, only the visible ones are drawn, the head stays. Arrows move,
// Enter opens, Ctrl/Cmd-C copies the cell. Columns can be hidden and resized (TanStack Table's column model).
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- virtual rows cannot be table rows: the roles are the table */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { chordOf, resolveKey } from '../app/key-bindings.ts';
import { copyText } from './copy-button.tsx';
import { GridHead } from './grid-head.tsx';
import { GridRow } from './grid-row.tsx';
import type { GridColumn, GridItem, GridSort } from './grid-types.ts';
import { isMac } from './platform.ts';
import { useColumnModel } from './use-column-model.tsx';

export interface DataGridProps<Row> {
  readonly label: string;
  readonly columns: readonly GridColumn<Row>[];
  /** Where hidden columns and widths are remembered. */
  readonly storageKey: string;
  readonly count: number;
  readonly itemAt: (position: number) => GridItem<Row> | undefined;
  /** Anything that changes when the rows did. */
  readonly version: unknown;
  readonly sort: readonly GridSort[];
  readonly onSort: (column: string, isAdditional: boolean) => void;
  /** Position of the selected row, -1 for none. */
  readonly selected: number;
  readonly onSelect: (position: number) => void;
  readonly onOpen: (position: number) => void;
  readonly onTick?: ((position: number) => void) | undefined;
  /** The drawn part, after scrolling or new rows: for loading pages and holding rows still. */
  readonly onWindow?: (first: number, last: number) => void;
  readonly onPointer?: (isInside: boolean) => void;
  readonly toolbar?: (columnMenu: ReactNode) => ReactNode;
  /** Beside the table, under the toolbar. */
  readonly aside?: ReactNode;
  readonly footer?: ReactNode;
  readonly empty: ReactNode;
}

const rowHeight = 28;
/** Drawn rows are reused by place modulo this: more than fit on the tallest screen. */
const rowSlots = 256;

export function DataGrid<Row>(props: DataGridProps<Row>) {
  const { label, columns, count, itemAt, selected, onSelect, onWindow, onPointer } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [activeColumn, setActiveColumn] = useState(0);
  const model = useColumnModel(columns, props.storageKey);
  // oxlint-disable-next-line react/incompatible-library -- this component is not compiled
  const virtual = useVirtualizer({
    count,
    getScrollElement: useCallback(() => scroller.current, []),
    estimateSize: useCallback(() => rowHeight, []),
    overscan: 4,
    paddingStart: rowHeight,
    scrollPaddingStart: rowHeight,
  });
  const drawn = virtual.getVirtualItems();
  const [first, last] = [drawn[0]?.index ?? 0, drawn.at(-1)?.index ?? -1];
  useEffect(() => onWindow?.(first, last), [onWindow, first, last, count]);
  const lastSelected = useRef(-1);
  useEffect(() => {
    // Follow the selection when it moves, not when rows move under it.
    if (selected >= 0 && selected !== lastSelected.current)
      virtual.scrollToIndex(selected, { align: 'auto' });
    lastSelected.current = selected;
  }, [selected, virtual]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const handled = handleKey(event, {
      ...props,
      page,
      activeColumn,
      setActiveColumn,
      visible: model.visible,
    });
    if (!handled) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const idOf = (position: number, column: number): string => `${props.storageKey}-${position}-${column}`;
  const isSelectedDrawn = selected >= first && selected <= last && count > 0;

  return (
    <div className="grid-frame">
      {props.toolbar?.(model.menu)}
      <div className="grid-and-aside">
        <div
          ref={scroller}
          className="grid"
          role="grid"
          aria-label={label}
          aria-rowcount={count + 1}
          aria-colcount={model.visible.length}
          aria-activedescendant={isSelectedDrawn ? idOf(selected, activeColumn) : undefined}
          tabIndex={0}
          style={{ '--columns': model.template } as React.CSSProperties}
          onKeyDown={onKeyDown}
          onPointerEnter={() => onPointer?.(true)}
          onPointerLeave={() => onPointer?.(false)}
        >
          <div className="grid-space" style={{ height: virtual.getTotalSize(), minWidth: model.width }}>
            <GridHead model={model} sort={props.sort} onSort={props.onSort} />
            <div role="rowgroup">
              {drawn.map(({ index, start }) => {
                const item = itemAt(index);
                if (!item)
                  return (
                    <div
                      key={index % rowSlots}
                      className="grid-row"
                      style={{ transform: `translateY(${start}px)` }}
                    />
                  );
                return (
                  <GridRow
                    key={index % rowSlots}
                    item={item}
                    position={index}
                    start={start}
                    columns={model.visible}
                    isSelected={index === selected}
                    activeColumn={index === selected ? activeColumn : -1}
                    idPrefix={props.storageKey}
                    onSelect={onSelect}
                    onOpen={props.onOpen}
                  />
                );
              })}
            </div>
          </div>
          {count === 0 ? <div className="grid-empty">{props.empty}</div> : null}
        </div>
        {props.aside}
      </div>
      {props.footer ? <div className="grid-foot">{props.footer}</div> : null}
    </div>
  );
}

interface KeyContext<Row> extends DataGridProps<Row> {
  readonly page: number;
  readonly activeColumn: number;
  readonly setActiveColumn: (column: number) => void;
  readonly visible: readonly { readonly column: GridColumn<Row> }[];
}

/** True when the key meant something to the table. */
function handleKey<Row>(event: KeyboardEvent, context: KeyContext<Row>): boolean {
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
