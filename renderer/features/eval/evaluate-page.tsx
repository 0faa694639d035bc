// Evaluate before the start: choose a graph, see what it is, say what to run, start it.
import { useEffect, useState, type DragEvent } from 'react';
import { formatAddress, home } from '../../store/address.ts';
import { useAddress, useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { EmptyState, PageHead, Skeleton } from '../../ui/page.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { useAction, useLoad } from '../../ui/use-request.ts';
import { ConfigForm } from './config-form.tsx';
import { configOfDraft } from './draft.ts';
import { firstGraph } from './first-graph.ts';
import { GraphPicker } from './graph-picker.tsx';
import { IntrospectionPanel } from './introspection-panel.tsx';
import { selectorFields } from './selectors.ts';
import { TrustButtons } from '../../ui/trust-buttons.tsx';
import { StartPanel } from './start-panel.tsx';
import { recentGraphs, rememberGraph, useDraft } from './use-draft.ts';
import { useIntrospection } from './use-introspection.ts';

const greatestFileBytes = 8 * 1024 * 1024;

export function EvaluatePage() {
  const { client, navigation } = useStudio();
  const address = useAddress();
  const graphs = useStudioState((state) => state.graphs);
  const [recent] = useState(recentGraphs);
  const importing = useAction();
  const [isDropping, setDropping] = useState(false);
  const usable = graphs?.filter((graph) => graph.evalGraph) ?? [];
  const fallback = firstGraph(usable, recent);
  const ref = address.graph ?? fallback;
  useEffect(() => {
    if (address.graph === null && fallback !== null) navigation.change({ graph: fallback });
  }, [address.graph, fallback, navigation]);

  const takeFile = (file: File): void =>
    importing.run(async () => {
      if (file.size > greatestFileBytes) throw new Error('A graph file has at most 8 MB.');
      const { ref: imported } = await client.request('graphs.import', {
        name: file.name,
        text: await file.text(),
      });
      navigation.go({ page: 'evaluate', graph: imported });
    });
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setDropping(false);
    const file = event.dataTransfer.files[0];
    if (file) takeFile(file);
  };

  return (
    <>
      <PageHead title="Evaluate" sub="Run a graph over many episodes" />
      <div
        className={isDropping ? 'evaluate dropping' : 'evaluate'}
        onDragOver={(event) => {
          event.preventDefault();
          setDropping(true);
        }}
        onDragLeave={(event) => event.currentTarget === event.target && setDropping(false)}
        onDrop={onDrop}
      >
        <GraphPicker selected={ref} recent={recent} importing={importing} onFile={takeFile} />
        {ref === null ? <NoGraph isKnown={graphs !== null} /> : <GraphForm key={ref} graph={ref} />}
      </div>
    </>
  );
}

function NoGraph({ isKnown }: { readonly isKnown: boolean }) {
  if (!isKnown) return <div className="evaluate-form" />;
  return (
    <EmptyState title="Choose a graph first">
      <p>
        A graph says how the agent is built and which environment it acts in. Drop a graph file anywhere on
        this page.
      </p>
    </EmptyState>
  );
}

function GraphForm({ graph }: { readonly graph: string }) {
  const { client } = useStudio();
  const state = useIntrospection(graph);
  const { draft, change, reset } = useDraft(graph);
  const { value } = state;
  const environment =
    value?.environments.find((candidate) => candidate.nodeset === draft.envNodeset) ??
    value?.environments[0] ??
    null;
  // What the form shows is what runs, also where nobody chose: the environment's current values are written out.
  const shown = Object.fromEntries(
    (environment ? selectorFields(environment) : []).map((field) => [field.name, field.current]),
  );
  const whole = { ...draft, selectors: { ...shown, ...draft.selectors } };
  const { config, problems } = configOfDraft(graph, whole, value?.suggestedWorkers ?? 1);
  const settled = useDebounced(config === null ? null : JSON.stringify(config), 350);
  const isBlocked = value?.diagnostics.some((diagnostic) => diagnostic.severity === 'error') ?? false;
  const canCheck = value !== null && !state.isLoading && settled !== null;
  const preflight = useLoad(canCheck ? settled : null, (signal) =>
    client.request('runs.preflight', { config: JSON.parse(settled ?? '{}') }, signal),
  );
  return (
    <>
      <div className="evaluate-form">
        {value ? (
          <div className="graph-title">
            <h2>{value.graph.name}</h2>
            {value.graph.description ? <p className="muted">{value.graph.description}</p> : null}
          </div>
        ) : null}
        {state.error ? (
          <ErrorCallout title="The graph could not be looked into." error={state.error}>
            <TrustButtons error={state.error} onTrusted={state.reload} />
            <button type="button" className="button" onClick={state.reload}>
              Try again
            </button>
            <a className="button" href={formatAddress(home)}>
              Choose another graph
            </a>
          </ErrorCallout>
        ) : null}
        {state.isReading ? <Skeleton lines={6} label="Reading the graph" /> : null}
        {value ? (
          <>
            <IntrospectionPanel state={{ ...state, value }} />
            <ConfigForm
              introspection={value}
              environment={environment}
              draft={draft}
              problems={problems}
              change={change}
            />
            <div className="row">
              <button type="button" className="button plain" onClick={reset}>
                Set the form back to its defaults
              </button>
            </div>
          </>
        ) : null}
      </div>
      {value ? (
        <StartPanel
          config={config}
          preflight={preflight}
          isBlocked={isBlocked}
          onStarted={() => rememberGraph(graph)}
        />
      ) : (
        <aside className="start-panel" aria-label="Start" />
      )}
    </>
  );
}
