// What a table needs to know of its columns and rows.
import type { ReactNode } from 'react';

export interface GridColumn<Row> {
  readonly id: string;
  readonly header: string;
  readonly unit?: string;
  /** The header is said, not drawn. */
  readonly isHeaderHidden?: boolean;
  /** Pixels before anybody resized it. */
  readonly width: number;
  readonly align?: 'start' | 'end';
  /** Takes what width is left. */
  readonly grows?: boolean;
  readonly isSortable?: boolean;
  readonly isHiddenAtFirst?: boolean;
  /** Hidden at first where the table would scroll sideways otherwise; the last ones first. */
  readonly yields?: boolean;
  readonly description?: string;
  readonly cell: (row: Row) => ReactNode;
  /** What copying the cell gives. */
  readonly text: (row: Row) => string;
}

export interface GridSort {
  readonly column: string;
  readonly descending: boolean;
}

export type GridItem<Row> =
  | { readonly kind: 'row'; readonly key: string | number; readonly row: Row }
  | { readonly kind: 'group'; readonly key: string; readonly label: ReactNode };
