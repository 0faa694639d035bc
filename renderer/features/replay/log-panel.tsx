// The log of an episode from its beginning, of all nodes or of one: prompts and replies in their order.
import { useState } from 'react';
import type { OpenedRecording, RecordedFiring } from '#contract/replay.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount } from '../../ui/format.ts';
import { Skeleton } from '../../ui/page.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { Firing } from './firings-panel.tsx';
import { placeKey, type EpisodePlace } from './use-recording.ts';

const pageSize = 50;

export interface LogPanelProps {
  readonly place: EpisodePlace;
  readonly nodes: OpenedRecording['nodes'];
}

export function LogPanel({ place, nodes }: LogPanelProps) {
  const { client } = useStudio();
  const [nodeId, setNodeId] = useState('');
  /** First lines of the pages looked at, the current one last. */
  const [pages, setPages] = useState<readonly number[]>([0]);
  const fromLine = pages.at(-1) ?? 0;
  const log = useLoad(`${placeKey(place)} ${nodeId} ${fromLine}`, (signal) =>
    client.request('replay.log', { ...place, fromLine, nodeId, limit: pageSize }, signal),
  );
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const nextLine = log.value?.nextLine ?? null;
  const fold = (line: number, isOpen: boolean): void => {
    const next = new Set(open);
    if (isOpen) next.add(line);
    else next.delete(line);
    setOpen(next);
  };
  return (
    <div className="firings">
      <select
        className="select small-select"
        aria-label="Node of the log"
        value={nodeId}
        onChange={(event) => {
          setNodeId(event.target.value);
          setPages([0]);
        }}
      >
        <option value="">All nodes</option>
        {nodes.map((node) => (
          <option key={node.nodeId} value={node.nodeId}>
            {node.path} ({formatCount(node.firings)})
          </option>
        ))}
      </select>
      {log.error ? (
        <ErrorCallout title="The log could not be read." error={log.error}>
          <button type="button" className="button" onClick={log.reload}>
            Try again
          </button>
        </ErrorCallout>
      ) : null}
      {!log.value && !log.error ? <Skeleton lines={6} label="Reading the log" /> : null}
      {log.value?.firings.length === 0 ? <p className="muted">Nothing here.</p> : null}
      {(log.value?.firings ?? []).map((firing: RecordedFiring) => (
        <Firing
          key={firing.line}
          firing={firing}
          withStep
          isOpen={open.has(firing.line)}
          onFold={(isOpen) => fold(firing.line, isOpen)}
        />
      ))}
      {pages.length > 1 || nextLine !== null ? (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={pages.length < 2}
            onClick={() => setPages(pages.slice(0, -1))}
          >
            Earlier
          </button>
          <button
            type="button"
            className="button"
            disabled={nextLine === null}
            onClick={() => nextLine !== null && setPages([...pages, nextLine])}
          >
            Later
          </button>
        </div>
      ) : null}
    </div>
  );
}
