// A virtual table with what stands around it: toolbar, foot, something beside it. Columns can be hidden and resized
// (TanStack Table's column model). Scrolling draws the rows alone, never what is around them.
import { useRef, type ReactNode } from 'react';
import { GridViewport, type GridViewportProps } from './grid-viewport.tsx';
import type { GridColumn } from './grid-types.ts';
import { useColumnModel } from './use-column-model.tsx';
import { useElementWidth } from './use-element-width.ts';

export interface DataGridProps<Row> extends Omit<GridViewportProps<Row>, 'model'> {
  readonly columns: readonly GridColumn<Row>[];
  readonly toolbar?: (columnMenu: ReactNode) => ReactNode;
  /** Beside the table, under the toolbar. */
  readonly aside?: ReactNode;
  readonly footer?: ReactNode;
}

export function DataGrid<Row>({ columns, toolbar, aside, footer, ...table }: DataGridProps<Row>) {
  const frame = useRef<HTMLDivElement>(null);
  const model = useColumnModel(columns, { storageKey: table.storageKey, available: useElementWidth(frame) });
  return (
    <div className="grid-frame" ref={frame}>
      {toolbar?.(model.menu)}
      <div className="grid-and-aside">
        <GridViewport {...table} model={model} />
        {aside}
      </div>
      {footer ? <div className="grid-foot">{footer}</div> : null}
    </div>
  );
}
