// Where the runs came from, side by side: what differs is marked.
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Check } from '../../ui/field.tsx';
import { formatCount } from '../../ui/format.ts';
import { Skeleton } from '../../ui/page.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { letterOf, type PairView } from './pair.ts';

export interface ProvenanceViewProps {
  readonly pair: PairView;
  readonly isOnlyDifferent: boolean;
  readonly onOnlyDifferent: (is: boolean) => void;
}

export function ProvenanceView({ pair, isOnlyDifferent, onOnlyDifferent }: ProvenanceViewProps) {
  const { client } = useStudio();
  const runIds = pair.comparison.runs.map((run) => run.runId);
  const loaded = useLoad(runIds.join(','), (signal) => client.request('runs.provenance', { runIds }, signal));
  if (loaded.error)
    return (
      <div className="padded">
        <ErrorCallout title="The provenance could not be read." error={loaded.error} />
      </div>
    );
  if (!loaded.value)
    return (
      <div className="padded">
        <Skeleton lines={10} label="Reading the provenance" />
      </div>
    );
  const all = loaded.value.rows;
  const rows = isOnlyDifferent ? all.filter((row) => row.differs) : all;
  const sections = [...new Set(rows.map((row) => row.section))];
  return (
    <div className="compare-scroll">
      <div className="row wrap compare-tools">
        <Check label="Only differences" isChecked={isOnlyDifferent} onChange={onOnlyDifferent} />
        <span className="small muted">
          {formatCount(all.filter((row) => row.differs).length)} of {formatCount(all.length)} differ
        </span>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role -- a table that scrolls sideways must be reachable */}
      <div className="wide-table" tabIndex={0} role="group" aria-label="Table of provenance">
        <table className="compare-table fields">
          <thead>
            <tr>
              <th scope="col">Fact</th>
              {pair.comparison.runs.map((run, at) => (
                <th key={run.runId} scope="col">
                  {letterOf(at)} {run.name}
                </th>
              ))}
            </tr>
          </thead>
          {sections.map((section) => (
            <tbody key={section}>
              <tr>
                <th scope="rowgroup" colSpan={runIds.length + 1} className="section-head">
                  {section}
                </th>
              </tr>
              {rows
                .filter((row) => row.section === section)
                .map((row) => (
                  <tr key={row.field} className={row.differs ? 'differs' : undefined}>
                    <th scope="row">
                      {row.differs ? (
                        <>
                          <span aria-hidden="true">≠ </span>
                          <span className="visually-hidden">differs: </span>
                        </>
                      ) : null}
                      {row.field}
                    </th>
                    {row.values.map((value, at) => (
                      <td key={runIds[at]} className="words">
                        {value ?? (
                          <span className="faint" title="Not known, or not set">
                            –
                          </span>
                        )}
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          ))}
        </table>
      </div>
      {rows.length === 0 ? <p className="muted">Nothing differs.</p> : null}
    </div>
  );
}
