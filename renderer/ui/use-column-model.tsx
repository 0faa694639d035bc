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

export function useColumnModel<Row>(
  columns: readonly GridColumn<Row>[],
  storageKey: string,
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
  const shown = useMemo(
    () => ({
      ...Object.fromEntries(
        columns.filter((column) => column.isHiddenAtFirst).map((column) => [column.id, false]),
      ),
      ...columnVisibility,
    }),
    [columns, columnVisibility],
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
  const menu = <ColumnMenu columns={columns} shown={shown} onToggle={toggle} />;
  return { visible, template, width, menu };
}

interface ColumnMenuProps<Row> {
  readonly columns: readonly GridColumn<Row>[];
  readonly shown: Readonly<Record<string, boolean>>;
  readonly onToggle: (id: string, isShown: boolean) => void;
}

function ColumnMenu<Row>({ columns, shown, onToggle }: ColumnMenuProps<Row>) {
  return (
    <Menu.Root>
      <Menu.Trigger className="button plain icon" aria-label="Choose columns">
        <Columns3 size={15} aria-hidden="true" />
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
