// The head of a table: it stays while rows scroll; a click sorts, with Shift or Ctrl/Cmd by one more column.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- virtual rows cannot be table rows: the roles are the table */
import { ArrowDown, ArrowUp } from 'lucide-react';
import { memo } from 'react';
import type { GridSort } from './grid-types.ts';
import type { ColumnModel, VisibleColumn } from './use-column-model.tsx';

export interface GridHeadProps<Row> {
  readonly model: ColumnModel<Row>;
  readonly sort: readonly GridSort[];
  readonly onSort: (column: string, isAdditional: boolean) => void;
}

function GridHeadInner<Row>({ model, sort, onSort }: GridHeadProps<Row>) {
  return (
    <div role="rowgroup" className="grid-head">
      <div role="row" aria-rowindex={1} className="grid-columns">
        {model.visible.map((visible, at) => (
          <HeadCell key={visible.column.id} visible={visible} index={at + 1} sort={sort} onSort={onSort} />
        ))}
      </div>
    </div>
  );
}

/** Drawn anew when columns or sorting changed, not when the table scrolls. */
export const GridHead = memo(GridHeadInner) as typeof GridHeadInner;

interface HeadCellProps<Row> extends Omit<GridHeadProps<Row>, 'model'> {
  readonly visible: VisibleColumn<Row>;
  readonly index: number;
}

function HeadCell<Row>({ visible, index, sort, onSort }: HeadCellProps<Row>) {
  const { column, resize } = visible;
  const rank = sort.findIndex((key) => key.column === column.id);
  const sorted = sort[rank];
  const direction = sorted === undefined ? 'none' : sorted.descending ? 'descending' : 'ascending';
  const Arrow = sorted?.descending ? ArrowDown : ArrowUp;
  const title = [column.description ?? column.header, column.unit ? `in ${column.unit}` : '']
    .filter(Boolean)
    .join(', ');
  const words = (
    <>
      <span className={column.isHeaderHidden ? 'visually-hidden' : 'clip'}>{column.header}</span>
      {column.unit ? <span className="faint"> {column.unit}</span> : null}
      {sorted ? <Arrow size={12} aria-hidden="true" /> : null}
      {sorted && sort.length > 1 ? <sup>{rank + 1}</sup> : null}
    </>
  );
  return (
    <div
      role="columnheader"
      aria-colindex={index}
      aria-sort={column.isSortable === false ? undefined : direction}
      className={column.align === 'end' ? 'head-cell end' : 'head-cell'}
      title={title}
    >
      {column.isSortable === false ? (
        <span className="head-words">{words}</span>
      ) : (
        <button
          type="button"
          className="head-words"
          onClick={(event) => onSort(column.id, event.shiftKey || event.ctrlKey || event.metaKey)}
        >
          {words}
        </button>
      )}
      {resize ? (
        <span className="resizer" aria-hidden="true" onMouseDown={resize} onTouchStart={resize} />
      ) : null}
    </div>
  );
}
