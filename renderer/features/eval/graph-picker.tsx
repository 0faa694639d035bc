// Which graph: search, the ones used lately first, or a file brought in.
import { FileUp, Search } from 'lucide-react';
import { useRef, useState } from 'react';
import type { GraphListItem } from '#contract/requests.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { useAction, type Action } from '../../ui/use-request.ts';

export interface GraphPickerProps {
  readonly selected: string | null;
  readonly recent: readonly string[];
  readonly importing: Action;
  readonly onFile: (file: File) => void;
}

export function GraphPicker({ selected, recent, importing, onFile }: GraphPickerProps) {
  const studio = useStudio();
  const graphs = useStudioState((state) => state.graphs);
  const error = useStudioState((state) => state.graphsError);
  const again = useAction();
  const [text, setText] = useState('');
  const picker = useRef<HTMLInputElement>(null);
  const found = (graphs ?? []).filter((graph) => graph.evalGraph && matches(graph, text));
  const used = recent.flatMap((ref) => found.filter((graph) => graph.ref === ref)).slice(0, 4);
  const rest = found.filter((graph) => !used.includes(graph));
  return (
    <section className="picker" aria-label="Graph">
      <div className="search-box">
        <Search size={14} aria-hidden="true" />
        <input
          type="search"
          className="input search"
          aria-label="Search graphs"
          placeholder="Search graphs"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <div className="picker-list">
        {error ? (
          <ErrorCallout title="The graphs could not be listed." error={error}>
            <button type="button" className="button" onClick={() => again.run(() => studio.refreshGraphs())}>
              Try again
            </button>
          </ErrorCallout>
        ) : null}
        {graphs === null && !error ? <Skeleton lines={5} label="Listing graphs" /> : null}
        {used.length > 0 ? <GraphGroup title="Used lately" graphs={used} selected={selected} /> : null}
        {rest.length > 0 ? (
          <GraphGroup title={used.length > 0 ? 'All others' : 'Graphs'} graphs={rest} selected={selected} />
        ) : null}
        {graphs !== null && found.length === 0 ? (
          <p className="muted">
            {graphs.length === 0
              ? 'There is no graph yet. Drop a graph file here, or choose one below.'
              : `No graph matches “${text}”.`}
          </p>
        ) : null}
      </div>
      {importing.error ? <ErrorCallout title="The file was not taken in." error={importing.error} /> : null}
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
      <button
        type="button"
        className="button wide"
        disabled={importing.isBusy}
        onClick={() => picker.current?.click()}
      >
        <FileUp size={14} aria-hidden="true" />
        Choose or drop a file
      </button>
    </section>
  );
}

interface GraphGroupProps {
  readonly title: string;
  readonly graphs: readonly GraphListItem[];
  readonly selected: string | null;
}

function GraphGroup({ title, graphs, selected }: GraphGroupProps) {
  return (
    <div>
      <h2 className="small-head">{title}</h2>
      <ul>
        {graphs.map((graph) => (
          <li key={graph.ref}>
            <a
              className="picker-item"
              href={formatAddress({ ...home, graph: graph.ref })}
              aria-current={graph.ref === selected ? 'true' : undefined}
              title={graph.description}
            >
              <span className="row spread">
                <span className="clip">{graph.name}</span>
                <span className="small faint">{graph.origin}</span>
              </span>
              <span className="small faint clip">{graph.nodesets.join(', ') || graph.description}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function matches(graph: GraphListItem, text: string): boolean {
  const all = `${graph.name} ${graph.description} ${graph.nodesets.join(' ')} ${graph.ref}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
