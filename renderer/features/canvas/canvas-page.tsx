// Canvas: the graph or the run the address names, or the list of graphs to open. What draws is loaded when it is needed.
import { FilePlus2, FileUp } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState, type DragEvent } from 'react';
import type { NodeManifest } from '#contract/nodeset.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useAddress, useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { PageHead, Skeleton } from '../../ui/page.tsx';
import { useAction, useLoad, type Loaded } from '../../ui/use-request.ts';
import { useNodeTypes } from './use-node-types.ts';
import { openGraph, openNewGraph, type OpenGraph } from './open-graph.ts';

const loadEditor = () => import('./graph-editor.tsx');
const RunOnCanvas = lazy(async () => ({ default: (await import('./run-on-canvas.tsx')).RunOnCanvas }));
const GraphEditor = lazy(async () => ({ default: (await loadEditor()).GraphEditor }));
/** The editor is fetched while somebody looks for a graph. */
const fetchAfterMs = 250;

/** The address of a graph that has no file yet. */
const newGraph = 'new';
const greatestFileBytes = 8 * 1024 * 1024;

export function CanvasPage() {
  const { client, navigation } = useStudio();
  const { graph, run, episode } = useAddress();
  const importing = useAction();
  const [isDropping, setDropping] = useState(false);
  const takeFile = (file: File): void =>
    importing.run(async () => {
      if (file.size > greatestFileBytes)
        throw new Error(`${file.name} is larger than 8 MB, so it is no graph.`);
      const name = file.name.replace(/\.(json|acgraph)$/i, '');
      const { ref } = await client.request('graphs.import', { name, text: await file.text() });
      navigation.go({ page: 'canvas', graph: ref });
    });
  const onDrop = (event: DragEvent): void => {
    const file = event.dataTransfer.files[0];
    setDropping(false);
    if (!file) return;
    event.preventDefault();
    takeFile(file);
  };
  return (
    <div
      className={isDropping ? 'canvas-page dropping' : 'canvas-page'}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={(event) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget.contains(to))) setDropping(false);
      }}
      onDrop={onDrop}
    >
      {importing.error ? (
        <ErrorCallout title="The file was not taken in." error={importing.error}>
          <button type="button" className="button" onClick={importing.clear}>
            Close
          </button>
        </ErrorCallout>
      ) : null}
      {run !== null ? (
        <Suspense fallback={waiting}>
          <RunOnCanvas key={run} runId={run} ordinal={episode} />
        </Suspense>
      ) : graph === null ? (
        <GraphList onFile={takeFile} />
      ) : (
        <OpenedGraph key={graph} graph={graph} />
      )}
    </div>
  );
}

function GraphList({ onFile }: { readonly onFile: (file: File) => void }) {
  const graphs = useStudioState((state) => state.graphs);
  const error = useStudioState((state) => state.graphsError);
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const timer = setTimeout(() => void loadEditor().catch(() => undefined), fetchAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <>
      <PageHead title="Canvas" sub="Draw, run and step through a graph">
        <input
          ref={picker}
          type="file"
          className="visually-hidden"
          tabIndex={-1}
          aria-label="Graph file"
          accept=".json,.acgraph,application/json"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) onFile(file);
            event.target.value = '';
          }}
        />
        <button type="button" className="button" onClick={() => picker.current?.click()}>
          <FileUp size={14} aria-hidden="true" />
          Open a file
        </button>
        <a className="button primary" href={formatAddress({ ...home, page: 'canvas', graph: newGraph })}>
          <FilePlus2 size={14} aria-hidden="true" />
          New graph
        </a>
      </PageHead>
      <div className="page-body canvas-list">
        {error ? <ErrorCallout title="The graphs could not be listed." error={error} /> : null}
        {graphs === null && !error ? <Skeleton lines={6} label="Listing graphs" /> : null}
        {graphs?.length === 0 ? (
          <p className="muted">There is no graph yet. Begin a new one, or drop a graph file here.</p>
        ) : null}
        <ul>
          {(graphs ?? []).map(({ ref, name, description, origin, nodesets }) => (
            <li key={ref}>
              <a className="canvas-list-item" href={formatAddress({ ...home, page: 'canvas', graph: ref })}>
                <span className="row spread">
                  <strong className="clip">{name}</strong>
                  <span className="small faint">{origin}</span>
                </span>
                <span className="small muted clip">{description || nodesets.join(', ')}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

function OpenedGraph({ graph }: { readonly graph: string }) {
  const { client } = useStudio();
  const { types, error } = useNodeTypes();
  const latest = useRef(types);
  useEffect(() => {
    latest.current = types;
  }, [types]);
  const opened = useLoad(graph, async (signal) => {
    const manifests = () => ({ manifestOf: (type: string) => latest.current?.get(type) });
    return graph === newGraph ? openNewGraph(manifests) : await openGraph(client, graph, manifests, signal);
  });
  return <OpenedBody graph={graph} opened={opened} types={types} typesError={error} />;
}

const waiting = (
  <div className="canvas-list">
    <Skeleton lines={6} label="Opening the graph" />
  </div>
);

interface OpenedBodyProps {
  readonly graph: string;
  readonly opened: Loaded<OpenGraph>;
  readonly types: ReadonlyMap<string, NodeManifest> | null;
  readonly typesError: Loaded<unknown>['error'];
}

function OpenedBody({ graph, opened, types, typesError }: OpenedBodyProps) {
  const error = opened.error ?? typesError;
  if (error)
    return (
      <>
        <PageHead title="Canvas" sub={graph} />
        <div className="page-body canvas-list">
          <ErrorCallout title="The graph could not be opened. The file is as it was." error={error}>
            <button type="button" className="button" onClick={opened.reload}>
              Try again
            </button>
            <a className="button" href={formatAddress({ ...home, page: 'canvas' })}>
              All graphs
            </a>
          </ErrorCallout>
        </div>
      </>
    );
  if (!opened.value || !types) return waiting;
  return (
    <Suspense fallback={waiting}>
      <GraphEditor editor={opened.value.editor} types={types} recovered={opened.value.recovered} />
    </Suspense>
  );
}
