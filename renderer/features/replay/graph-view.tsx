// The run's graph, small: nodes that fired in the current step are lit, and the firings can be walked through one by
// one, each with what it took in, gave out and wrote.
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { RecordedFiring } from '#contract/replay.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { useLoad } from '../../ui/use-request.ts';
import { Firing } from './firings-panel.tsx';
import { graphPicture, nodeHeight, nodeWidth, type GraphPicture } from './graph-picture.ts';
import { placeKey, type EpisodePlace } from './use-recording.ts';

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
  const loaded = useLoad(`${placeKey(place)} ${settled}`, (signal) =>
    client.request('replay.firings', { ...place, step: settled, limit: mostFirings }, signal),
  );
  // The step before stays until the next one is read: nothing flickers while it plays.
  const [held, setHeld] = useState<readonly RecordedFiring[]>([]);
  if (loaded.value && loaded.value.firings !== held) setHeld(loaded.value.firings);
  /** The node that is looked at: it stays the same one from step to step. */
  const [chosenNode, setChosenNode] = useState<string | null>(null);
  const picture = useMemo(() => (graph.value ? graphPicture(graph.value.definition) : null), [graph.value]);
  if (graph.error) return <ErrorCallout title="The graph could not be read." error={graph.error} />;
  if (!picture) return <Skeleton lines={6} label="Reading the graph" />;
  const chosenAt = held.findIndex((firing) => firing.nodeId === chosenNode);
  const chosen = held[chosenAt];
  const choose = (at: number): void => setChosenNode(held[at]?.nodeId ?? null);
  return (
    <div className="firings">
      <figure>
        {/* A drawing that scrolls must be reachable without a mouse. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role */}
        <div className="graph-scroll" tabIndex={0} role="group" aria-label="Graph of the run">
          <Drawing picture={picture} firings={held} chosen={chosen} step={settled} onChoose={setChosenNode} />
        </div>
        <figcaption className="small muted">
          Outlined in bold: fired in step {settled}. A composite is lit when a node inside it fired.
        </figcaption>
      </figure>
      <div className="row">
        <button
          type="button"
          className="button plain icon"
          aria-label="Firing before"
          disabled={chosenAt <= 0}
          onClick={() => choose(chosenAt - 1)}
        >
          <ChevronLeft size={16} aria-hidden="true" />
        </button>
        <span className="small figures" aria-live="polite">
          {chosen ? `firing ${chosenAt + 1} of ${held.length}: ${chosen.path}` : `${held.length} firings`}
        </span>
        <button
          type="button"
          className="button plain icon"
          aria-label="Next firing"
          disabled={chosenAt + 1 >= held.length}
          onClick={() => choose(chosenAt + 1)}
        >
          <ChevronRight size={16} aria-hidden="true" />
        </button>
      </div>
      {chosen ? <Firing firing={chosen} isOpen onFold={() => setChosenNode(null)} /> : null}
    </div>
  );
}

interface DrawingProps {
  readonly picture: GraphPicture;
  readonly firings: readonly RecordedFiring[];
  readonly chosen: RecordedFiring | undefined;
  readonly step: number;
  readonly onChoose: (nodeId: string) => void;
}

/** The node of the drawing a firing belongs to: its outermost composite. */
const drawnNode = (firing: RecordedFiring): string => firing.nodeId.split('__')[0] ?? '';

function Drawing({ picture, firings, chosen, step, onChoose }: DrawingProps) {
  const fired = new Set(firings.map(drawnNode));
  const failed = new Set(firings.filter(({ error }) => error !== null).map(drawnNode));
  const current = chosen && drawnNode(chosen);
  const looksOf = (id: string): string =>
    ['graph-node', fired.has(id) && 'fired', failed.has(id) && 'failed', id === current && 'current']
      .filter((name) => name !== false)
      .join(' ');
  return (
    <svg
      className="replay-graph"
      width={picture.width * scale}
      height={picture.height * scale}
      viewBox={picture.viewBox}
      role="img"
      aria-label={`Graph at step ${step}; fired: ${[...fired].join(', ') || 'nothing'}`}
    >
      {picture.edges.map((edge) => (
        <path key={edge.id} className="graph-wire" d={edge.path} />
      ))}
      {picture.nodes.map((node) => (
        <g
          key={node.id}
          className={looksOf(node.id)}
          transform={`translate(${node.x} ${node.y})`}
          onClick={() => {
            const own = firings.find((firing) => drawnNode(firing) === node.id);
            if (own) onChoose(own.nodeId);
          }}
        >
          <rect width={nodeWidth} height={nodeHeight} rx={6} />
          <text x={12} y={nodeHeight / 2 + 6}>
            {node.label}
          </text>
        </g>
      ))}
    </svg>
  );
}
