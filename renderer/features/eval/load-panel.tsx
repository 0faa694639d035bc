// What must still be loaded before the environment can say anything, with its stages and its log.
import { useEffect, useState } from 'react';
import type { Introspection } from '#contract/requests.ts';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatPlural } from '../../ui/format.ts';
import { useAction } from '../../ui/use-request.ts';
import type { IntrospectionState } from './use-introspection.ts';
import { TextBlock } from '../../ui/text-block.tsx';

const logEveryMs = 1000;

export function LoadPanel({
  state,
}: {
  readonly state: IntrospectionState & { readonly value: Introspection };
}) {
  const changed = useStudioState((studio) => studio.nodesets);
  const failed = state.value.nodesets
    .map((nodeset) => changed[nodeset.name] ?? nodeset)
    .filter((nodeset) => nodeset.error);
  const { missing } = state.value;
  const names = state.isLoading ? state.value.nodesets.map(({ name }) => name) : state.unloaded;
  return (
    <div className="stack load-panel">
      <div className="row spread">
        <span>
          {names.length > 0 ? (
            <strong>{state.isLoading ? 'Loading ' : 'Must still be loaded: '}</strong>
          ) : null}
          {names.map((name, at) => (
            <span key={name}>
              {at > 0 ? ', ' : ''}
              {name}
              {changed[name]?.stage ? <span className="faint"> ({changed[name].stage})</span> : null}
            </span>
          ))}
          {names.length === 0 ? <strong>{formatPlural(missing.length, 'nodeset')} not found</strong> : null}
        </span>
        <button type="button" className="button" disabled={state.isLoading} onClick={state.load}>
          {state.isLoading ? 'Loading' : state.unloaded.length > 0 ? 'Load' : 'Look again'}
        </button>
      </div>
      {state.unloaded.length > 0 && !state.isLoading ? (
        <p className="small muted">
          Loading starts it once, so that it can tell its splits and metrics. A run loads it by itself.
        </p>
      ) : null}
      {missing.length > 0 ? (
        <p className="small muted">
          No nodeset is called {missing.join(' or ')}. Put it into the workspace’s nodesets folder, or add its
          folder in Settings.
        </p>
      ) : null}
      {failed.map((nodeset) => (
        <div key={nodeset.name} className="callout bad" role="alert">
          <div className="body">
            <strong>{nodeset.name} did not load.</strong> {nodeset.error}
          </div>
        </div>
      ))}
      {names.map((name) => (
        <NodesetLog key={name} name={name} isLoading={state.isLoading} />
      ))}
    </div>
  );
}

function NodesetLog({ name, isLoading }: { readonly name: string; readonly isLoading: boolean }) {
  const { client } = useStudio();
  const [isOpen, setOpen] = useState(false);
  const [lines, setLines] = useState<readonly string[] | null>(null);
  const reading = useAction();
  const { run } = reading;
  useEffect(() => {
    if (!isOpen) return undefined;
    const read = (): void =>
      run(async () => setLines((await client.request('nodesets.log', { name })).lines.slice(-200)));
    read();
    if (!isLoading) return undefined;
    const timer = setInterval(read, logEveryMs);
    return () => clearInterval(timer);
  }, [client, name, isOpen, isLoading, run]);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Log of {name}</summary>
      {reading.error ? <ErrorCallout title="The log could not be read." error={reading.error} /> : null}
      <TextBlock label="Log">
        {lines === null ? '' : lines.length === 0 ? 'Nothing logged yet.' : lines.join('\n')}
      </TextBlock>
    </details>
  );
}
