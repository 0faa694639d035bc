// The frame of a chart: title, unit, legend, and the same numbers as a table.
/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/no-noninteractive-tabindex -- a drawn chart is the picture; a table that scrolls must be reachable */
import { ChartLine, Table } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';

export interface ChartFrameProps {
  readonly title: string;
  readonly unit?: string;
  readonly action?: ReactNode;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly empty: string;
  readonly legend?: readonly { readonly name: string; readonly className: string }[];
  readonly children: ReactNode;
}

export function ChartFrame({ title, unit, action, columns, rows, empty, legend, children }: ChartFrameProps) {
  const [isTable, setTable] = useState(false);
  const id = useId();
  const Icon = isTable ? ChartLine : Table;
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption className="row">
        <h2 id={id} className="clip small-head">
          {title}
          {unit ? <span className="faint"> {unit}</span> : null}
        </h2>
        {(legend ?? []).map((entry) => (
          <span key={entry.name} className={`legend-line small faint ${entry.className}`}>
            {entry.name}
          </span>
        ))}
        <span className="grow" />
        {action}
        <button
          type="button"
          className="button plain icon"
          aria-label={isTable ? `Show ${title} as a chart` : `Show ${title} as a table`}
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          <Icon size={14} aria-hidden="true" />
        </button>
      </figcaption>
      {rows.length === 0 ? (
        <p className="chart-empty faint">{empty}</p>
      ) : isTable ? (
        <div className="chart-table" tabIndex={0} role="region" aria-label={`${title}, table`}>
          <table>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col" className="number">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row[0]}>
                  {row.map((cell, at) => (
                    <td key={columns[at]} className="number">
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <div
          className="chart-area"
          role="img"
          aria-label={`${title}: ${rows.length} points; the table has the numbers`}
        >
          {children}
        </div>
      )}
    </figure>
  );
}
