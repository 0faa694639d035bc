// The run's graph, small: nodes that fired in the current step are lit.
import { useMemo } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { useLoad } from '../../ui/use-request.ts';
import { graphPicture, nodeHeight, nodeWidth } from './graph-picture.ts';
import type { EpisodePlace } from './use-recording.ts';

const settleMs = 60;
const mostFirings = 200;
/** Pixels per unit of the canvas: labels can be read, and the wide ones scroll. */
const scale = 0.62;

export function GraphView({ place, step }: { readonly place: EpisodePlace; readonly step: number }) {
  const { client } = useStudio();
  const settled = useDebounced(step, settleMs);
  const graph = useLoad(`graph ${place.runId}`, (signal) =>
    client.request('runs.graph', { runId: place.runId }, signal),
  );
  const firings = useLoad(`${place.runId} ${place.ordinal} ${settled}`, (signal) =>
    client.request('replay.firings', { ...place, step: settled, limit: mostFirings }, signal),
  );
  const picture = useMemo(() => (graph.value ? graphPicture(graph.value.definition) : null), [graph.value]);
  if (graph.error) return <ErrorCallout title="The graph could not be read." error={graph.error} />;
  if (!picture) return <Skeleton lines={6} label="Reading the graph" />;
  const fired = new Set((firings.value?.firings ?? []).map((firing) => firing.nodeId.split('__')[0] ?? ''));
  const failed = new Set(
    (firings.value?.firings ?? [])
      .filter((firing) => firing.error !== null)
      .map((firing) => firing.nodeId.split('__')[0] ?? ''),
  );
  return (
    <figure>
      {/* A drawing that scrolls must be reachable without a mouse. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role */}
      <div className="graph-scroll" tabIndex={0} role="group" aria-label="Graph of the run">
        <svg
          className="replay-graph"
          width={picture.width * scale}
          height={picture.height * scale}
          viewBox={picture.viewBox}
          role="img"
          aria-label={`Graph at step ${settled}; fired: ${[...fired].join(', ') || 'nothing'}`}
        >
          {picture.edges.map((edge) => (
            <path key={edge.id} className="graph-wire" d={edge.path} />
          ))}
          {picture.nodes.map((node) => (
            <g
              key={node.id}
              className={`graph-node${fired.has(node.id) ? ' fired' : ''}${failed.has(node.id) ? ' failed' : ''}`}
              transform={`translate(${node.x} ${node.y})`}
            >
              <rect width={nodeWidth} height={nodeHeight} rx={6} />
              <text x={12} y={nodeHeight / 2 + 6}>
                {node.label}
              </text>
            </g>
          ))}
        </svg>
      </div>
      <figcaption className="small muted">
        Outlined in bold: fired in step {settled}. A composite is lit when a node inside it fired.
      </figcaption>
    </figure>
  );
}
