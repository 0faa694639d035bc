// Canvas, looking at a run: its graph as it was run, and one episode of it replayed on the graph firing by firing. Nothing
// here can be changed; the graph's file is opened from here to be edited.
import '@xyflow/react/dist/base.css';
import { ReactFlowProvider } from '@xyflow/react';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import type { GraphDefinition } from '#contract/graph.ts';
import type { NodeManifest } from '#contract/nodeset.ts';
import type { RequestOutput } from '#contract/api.ts';
import { Editor } from '../../canvas-model/editor.ts';
import { flatId, levelsOf } from '../../canvas-model/levels.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useAddress, useCommand, useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { PageHead, Skeleton } from '../../ui/page.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { CanvasProvider } from './canvas-context.tsx';
import { EpisodeBar, EpisodeMissing } from './episode-bar.tsx';
import { EpisodeFeed } from './episode-feed.ts';
import { FindBar } from './find-bar.tsx';
import { FlowCanvas } from './flow-canvas.tsx';
import { RecordedInspector } from './recorded-inspector.tsx';
import { useLevelInAddress } from './use-level-in-address.ts';
import { useNodeTypes } from './use-node-types.ts';

/** A run without its plan. */
export type RunOfCanvas = RequestOutput<'runs.get'>['record'];

export interface RunOnCanvasProps {
  readonly runId: string;
  readonly ordinal: number | null;
}

export function RunOnCanvas({ runId, ordinal }: RunOnCanvasProps) {
  const { client } = useStudio();
  const { types, error: typesError } = useNodeTypes();
  const run = useLoad(runId, async (signal) => {
    const [{ record }, { definition }] = await Promise.all([
      client.request('runs.get', { runId }, signal),
      client.request('runs.graph', { runId }, signal),
    ]);
    return { record, definition };
  });
  const error = run.error ?? typesError;
  if (error)
    return (
      <>
        <PageHead title="Canvas" sub={runId} />
        <div className="page-body canvas-list">
          <ErrorCallout title="The graph of the run could not be read." error={error}>
            <button type="button" className="button" onClick={run.reload}>
              Try again
            </button>
          </ErrorCallout>
        </div>
      </>
    );
  if (!run.value || !types)
    return (
      <div className="canvas-list">
        <Skeleton lines={6} label="Opening the graph of the run" />
      </div>
    );
  return <OpenedRun key={ordinal ?? 'none'} {...run.value} types={types} ordinal={ordinal} />;
}

interface OpenedRunProps {
  readonly record: RunOfCanvas;
  readonly definition: GraphDefinition;
  readonly types: ReadonlyMap<string, NodeManifest>;
  readonly ordinal: number | null;
}

function OpenedRun({ record, definition, types, ordinal }: OpenedRunProps) {
  const { client } = useStudio();
  const [editor] = useState(() => {
    const saved = { ref: null, name: record.name, text: null, definition, isLibrary: false };
    return new Editor(saved, { manifests: () => ({ manifestOf: (type) => types.get(type) }), now: Date.now });
  });
  const { runId } = record;
  const { attempt } = useAddress();
  const feed = useMemo(() => {
    const place = { runId, ordinal: ordinal ?? 0, ...(attempt !== null && { attempt }) };
    return new EpisodeFeed(client, place, viewersOf(definition, types));
  }, [client, runId, ordinal, attempt, definition, types]);
  useEffect(() => () => feed.close(), [feed]);
  const parts = useMemo(() => ({ editor, types, play: feed, isReadOnly: true }), [editor, types, feed]);
  return (
    <CanvasProvider parts={parts}>
      <ReactFlowProvider>
        <Frame record={record} ordinal={ordinal}>
          {ordinal === null ? (
            <EpisodeMissing runId={runId} ordinal={null} />
          ) : (
            <EpisodeBar key={attempt} feed={feed} />
          )}
        </Frame>
      </ReactFlowProvider>
    </CanvasProvider>
  );
}

interface FrameProps {
  readonly record: RunOfCanvas;
  readonly ordinal: number | null;
  readonly children: ReactNode;
}

function Frame({ record, ordinal, children }: FrameProps) {
  const [isFinding, setFinding] = useState(false);
  const [isWide, setWide] = useState(false);
  const { step, attempt } = useAddress();
  useLevelInAddress();
  useCommand('canvas.find', () => setFinding(true));
  useCommand('canvas.panels', () => setWide(!isWide));
  const file = useStudioState((state) => state.graphs?.find(({ name }) => name === record.graphName));
  const { runId } = record;
  const link = (page: 'history' | 'replay'): string =>
    formatAddress({ ...home, page, run: runId, view: 'overview', episode: ordinal, attempt, step });
  return (
    <div className="canvas">
      <header className="page-head canvas-head">
        <div className="title grow">
          <Breadcrumbs>
            <span className="chip">{ordinal === null ? 'as it was run' : `episode ${ordinal}`}</span>
          </Breadcrumbs>
        </div>
        <a
          className="button"
          href={formatAddress({ ...home, page: 'history', run: runId, view: 'episodes', episode: ordinal })}
        >
          {ordinal === null ? 'The run' : 'The episode in its run'}
        </a>
        {ordinal === null ? null : (
          <a className="button" href={link('replay')}>
            Replay
          </a>
        )}
        {file ? (
          <a className="button" href={formatAddress({ ...home, page: 'canvas', graph: file.ref })}>
            Edit {file.name}
          </a>
        ) : null}
      </header>
      {children}
      <div className={isWide ? 'canvas-body wide' : 'canvas-body looking'}>
        <div className="canvas-middle">
          <FlowCanvas />
          {isFinding ? <FindBar onClose={() => setFinding(false)} /> : null}
        </div>
        {isWide ? null : (
          <aside className="canvas-side" aria-label="Details">
            <div className="canvas-side-body">
              <RecordedInspector />
            </div>
          </aside>
        )}
      </div>
    </div>
  );
}

/** Viewers at every level, by their id in the flat graph. */
function viewersOf(
  definition: GraphDefinition,
  types: ReadonlyMap<string, NodeManifest>,
): ReadonlyMap<string, string> {
  return new Map(
    levelsOf(definition).flatMap(({ path, level }) =>
      level.nodes
        .filter(({ type }) => types.get(type)?.kind === 'viewer')
        .map(({ id, type }) => [flatId(path, id), type] as const),
    ),
  );
}
