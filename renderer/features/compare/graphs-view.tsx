// What differs between the graphs as they were run; labels and positions do not count.
import type { GraphDifference } from '#contract/compare.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatPlural } from '../../ui/format.ts';
import { Skeleton } from '../../ui/page.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { PairBar } from './pair-bar.tsx';
import type { PairView } from './pair.ts';

export function GraphsView({ pair }: { readonly pair: PairView }) {
  const { client } = useStudio();
  const question = { baselineRun: pair.baseline.runId, otherRun: pair.other.runId };
  const loaded = useLoad(JSON.stringify(question), (signal) =>
    client.request('runs.compareGraphs', question, signal),
  );
  return (
    <>
      {pair.others.length > 1 ? <PairBar pair={pair} /> : null}
      <div className="compare-scroll">
        {loaded.error ? (
          <ErrorCallout title="The graphs could not be compared." error={loaded.error} />
        ) : null}
        {!loaded.value && !loaded.error ? <Skeleton lines={6} label="Comparing the graphs" /> : null}
        {loaded.value ? <Differences difference={loaded.value} /> : null}
      </div>
    </>
  );
}

function Differences({ difference }: { readonly difference: GraphDifference }) {
  const { nodes, edges, settings } = difference;
  if (difference.equal) return <p className="muted">Both runs ran the same graph.</p>;
  return (
    <div className="stack">
      <p className="muted">
        {formatPlural(nodes.length, 'node')}, {formatPlural(edges.length, 'wire')} and{' '}
        {formatPlural(settings.length, 'setting')} differ.
      </p>
      {nodes.length > 0 ? (
        <section aria-label="Nodes" className="stack">
          <h2>Nodes</h2>
          {nodes.map((node) => (
            <div key={node.path} className="graph-change">
              <div className="row wrap">
                <span className={`change ${node.change}`}>{node.change}</span>
                <strong>{node.path}</strong>
                <span className="faint mono">
                  {node.baselineType === node.otherType || node.otherType === null
                    ? node.baselineType
                    : [node.baselineType, node.otherType].filter(Boolean).join(' → ')}
                </span>
              </div>
              {node.fields.length > 0 ? (
                <Fields fields={node.fields} label={`Fields of ${node.path}`} />
              ) : null}
            </div>
          ))}
        </section>
      ) : null}
      {edges.length > 0 ? (
        <section aria-label="Wires" className="stack">
          <h2>Wires</h2>
          <ul>
            {edges.map((edge) => (
              <li key={`${edge.change} ${edge.source} ${edge.target}`}>
                <span className={`change ${edge.change}`}>{edge.change}</span>{' '}
                <span className="mono">
                  {edge.source} → {edge.target}
                </span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {settings.length > 0 ? (
        <section aria-label="Settings" className="stack">
          <h2>Settings</h2>
          <Fields fields={settings} label="Settings" />
        </section>
      ) : null}
    </div>
  );
}

interface FieldsProps {
  readonly fields: GraphDifference['settings'];
  readonly label: string;
}

function Fields({ fields, label }: FieldsProps) {
  return (
    <table className="compare-table fields" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">A, baseline</th>
          <th scope="col">Other</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <tr key={field.field}>
            <th scope="row">{field.field}</th>
            <td className="mono words">{field.baseline ?? '–'}</td>
            <td className="mono words">{field.other ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
