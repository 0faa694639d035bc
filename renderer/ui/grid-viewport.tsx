// The part of a table that scrolls: rows come from an index by position and only the visible ones are drawn. A hot path:
// a scroll draws this component and the few rows that came in, nothing else of the page.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- virtual rows cannot be table rows: the roles are the table */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { GridHead } from './grid-head.tsx';
import { handleKey, type KeyedTable } from './grid-keys.ts';
import { GridRow } from './grid-row.tsx';
import type { GridSort } from './grid-types.ts';
import { SlotOrder, slotOf, slotsFor } from './row-slots.ts';
import type { ColumnModel } from './use-column-model.tsx';

export interface GridViewportProps<Row> extends KeyedTable<Row> {
  readonly label: string;
  readonly model: ColumnModel<Row>;
  /** Where hidden columns and widths are remembered; names the cells. */
  readonly storageKey: string;
  /** Anything that changes when the rows did. */
  readonly version: unknown;
  readonly sort: readonly GridSort[];
  readonly onSort: (column: string, isAdditional: boolean) => void;
  /** The drawn part, after scrolling or new rows: for loading pages and holding rows still. */
  readonly onWindow?: (first: number, last: number) => void;
  readonly onPointer?: (isInside: boolean) => void;
  readonly empty: ReactNode;
}

const rowHeight = 28;
const overscan = 4;

export function GridViewport<Row>(props: GridViewportProps<Row>) {
  const { label, model, count, itemAt, selected, onWindow, onPointer } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [activeColumn, setActiveColumn] = useState(0);
  // oxlint-disable-next-line react/incompatible-library -- this component is not compiled
  const virtual = useVirtualizer({
    count,
    getScrollElement: useCallback(() => scroller.current, []),
    estimateSize: useCallback(() => rowHeight, []),
    overscan,
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
  const activeCell = `${props.storageKey}-${selected}-${activeColumn}`;
  const isSelectedDrawn = selected >= first && selected <= last && count > 0;
  const columns = useMemo(() => ({ '--columns': model.template }) as React.CSSProperties, [model.template]);
  const slots = slotsFor(virtual.scrollRect?.height ?? 0, { rowHeight, overscan });
  const [order] = useState(() => new SlotOrder());
  const arranged = order.arrange(drawn, slots, virtual.isScrolling || isFocusInside(scroller.current));

  return (
    <div
      ref={scroller}
      className="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={model.visible.length}
      aria-activedescendant={isSelectedDrawn ? activeCell : undefined}
      tabIndex={0}
      style={columns}
      onKeyDown={onKeyDown}
      onPointerEnter={() => onPointer?.(true)}
      onPointerLeave={() => onPointer?.(false)}
    >
      <div className="grid-space" style={{ height: virtual.getTotalSize(), minWidth: model.width }}>
        <GridHead model={model} sort={props.sort} onSort={props.onSort} />
        <div role="rowgroup">
          {arranged.map(({ index, start }) => (
            <GridRow
              key={slotOf(index, slots)}
              item={itemAt(index)}
              position={index}
              start={start}
              columns={model.visible}
              isSelected={index === selected}
              activeColumn={index === selected ? activeColumn : -1}
              idPrefix={props.storageKey}
              onSelect={props.onSelect}
              onOpen={props.onOpen}
            />
          ))}
        </div>
      </div>
      {count === 0 ? <div className="grid-empty">{props.empty}</div> : null}
    </div>
  );
}

/** A control inside a row has the focus: an element that is moved in the document would lose it. */
const isFocusInside = (scroller: HTMLElement | null): boolean =>
  scroller !== document.activeElement && (scroller?.contains(document.activeElement) ?? false);
