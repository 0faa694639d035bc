// Which columns are shown and how wide, remembered per table. TanStack Table keeps visibility and sizes; it never sees
// the rows, which would cost it most of a second per update at 100,000 of them.
import {
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
} from '@tanstack/react-table';
import { Menu } from '@base-ui/react/menu';
import { Columns3 } from 'lucide-react';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { yieldedColumns } from './fitting-columns.ts';
import type { GridColumn } from './grid-types.ts';
import { recall, remember } from './storage.ts';

const features = tableFeatures({ columnVisibilityFeature, columnSizingFeature, columnResizingFeature });
const noRows: never[] = [];

export interface VisibleColumn<Row> {
  readonly column: GridColumn<Row>;
  readonly resize: ((event: unknown) => void) | undefined;
}

export interface ColumnModel<Row> {
  readonly visible: readonly VisibleColumn<Row>[];
  /** For `grid-template-columns`. */
  readonly template: string;
  readonly width: number;
  readonly menu: ReactNode;
}

export interface ColumnModelOptions {
  readonly storageKey: string;
  /** Pixels for the table; null while unknown. */
  readonly available: number | null;
}

export function useColumnModel<Row>(
  columns: readonly GridColumn<Row>[],
  { storageKey, available }: ColumnModelOptions,
): ColumnModel<Row> {
  const definitions = useMemo(
    () =>
      columns.map((column): ColumnDef<typeof features, never> => ({
        id: column.id,
        header: column.header,
        size: column.width,
        minSize: 32,
      })),
    [columns],
  );
  const [columnVisibility, setColumnVisibility] = useState<Record<string, boolean>>(() =>
    recallRecord(`${storageKey}.shown`, 'boolean'),
  );
  const [columnSizing, setColumnSizing] = useState<Record<string, number>>(() =>
    recallRecord(`${storageKey}.widths`, 'number'),
  );
  const yielded = useMemo(() => {
    const widths = new Map(columns.map(({ id, width }) => [id, width]));
    const sizeOf = (id: string): number => columnSizing[id] ?? widths.get(id) ?? 100;
    return yieldedColumns(columns, { available, sizeOf, chosen: columnVisibility });
  }, [columns, available, columnSizing, columnVisibility]);
  // As text: while a window is resized, columns stay the same ones most of the time.
  const yieldedText = yielded.join('\n');
  const shown = useMemo(
    () => ({
      ...Object.fromEntries(
        columns.filter((column) => column.isHiddenAtFirst).map((column) => [column.id, false]),
      ),
      ...Object.fromEntries(yieldedText.split('\n').map((id) => [id, false])),
      ...columnVisibility,
    }),
    [columns, columnVisibility, yieldedText],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: noRows,
    columnResizeMode: 'onChange',
    state: { columnVisibility: shown, columnSizing },
    onColumnVisibilityChange: setColumnVisibility,
    onColumnSizingChange: setColumnSizing,
  });
  useEffect(() => remember(`${storageKey}.shown`, columnVisibility), [storageKey, columnVisibility]);
  useEffect(() => remember(`${storageKey}.widths`, columnSizing), [storageKey, columnSizing]);

  const headers = table.getHeaderGroups()[0]?.headers;
  // Stable while neither columns nor widths change: rows are drawn anew only when this is another array.
  const visible = useMemo(() => {
    const byId = new Map(columns.map((column) => [column.id, column]));
    return (headers ?? []).flatMap((header): VisibleColumn<Row>[] => {
      const column = byId.get(header.column.id);
      return column ? [{ column, resize: header.getResizeHandler() }] : [];
    });
  }, [columns, headers]);
  const sizeOf = (id: string): number => table.getColumn(id)?.getSize() ?? 100;
  const template = visible
    .map(({ column }) => (column.grows ? `minmax(${sizeOf(column.id)}px, 1fr)` : `${sizeOf(column.id)}px`))
    .join(' ');
  const width = visible.reduce((sum, { column }) => sum + sizeOf(column.id), 0);
  const toggle = (id: string, isShown: boolean): void =>
    setColumnVisibility((before) => ({ ...before, [id]: isShown }));
  const menu = <ColumnMenu columns={columns} shown={shown} yielded={yielded.length} onToggle={toggle} />;
  return { visible, template, width, menu };
}

interface ColumnMenuProps<Row> {
  readonly columns: readonly GridColumn<Row>[];
  readonly shown: Readonly<Record<string, boolean>>;
  /** How many are hidden for lack of width. */
  readonly yielded: number;
  readonly onToggle: (id: string, isShown: boolean) => void;
}

function ColumnMenu<Row>({ columns, shown, yielded, onToggle }: ColumnMenuProps<Row>) {
  return (
    <Menu.Root>
      <Menu.Trigger
        className={yielded > 0 ? 'button plain' : 'button plain icon'}
        aria-label={yielded > 0 ? `Choose columns, ${yielded} hidden for lack of width` : 'Choose columns'}
        title={yielded > 0 ? `${yielded} columns are hidden for lack of width` : 'Choose columns'}
      >
        <Columns3 size={15} aria-hidden="true" />
        {yielded > 0 ? <span className="small muted">+{yielded}</span> : null}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="layer">
          <Menu.Popup className="popup">
            {columns.map((column) => (
              <Menu.CheckboxItem
                key={column.id}
                className="menu-item"
                closeOnClick={false}
                checked={shown[column.id] !== false}
                onCheckedChange={(isShown) => onToggle(column.id, isShown)}
              >
                <span className="menu-check" aria-hidden="true">
                  {shown[column.id] === false ? '' : '✓'}
                </span>
                {column.header}
              </Menu.CheckboxItem>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function recallRecord<T>(key: string, type: 'boolean' | 'number'): Record<string, T> {
  const value = recall(key);
  if (typeof value !== 'object' || value === null) return {};
  const entries = Object.entries(value).filter((entry) => typeof entry[1] === type);
  return Object.fromEntries(entries) as Record<string, T>; // Filtered by type just above.
}
