// One nodeset beside the table: what it is, what to do with it, its processes, interpreter, environment and log.
import { X } from 'lucide-react';
import type { NodesetSummary } from '#contract/nodeset.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatBytes, formatDuration, formatPlural } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { Tip } from '../../ui/tip.tsx';
import { useAction } from '../../ui/use-request.ts';
import { EnvironmentSection } from './environment-section.tsx';
import { InterpreterSection } from './interpreter-section.tsx';
import { NodesetLog } from './nodeset-log.tsx';
import { stateOf } from './nodeset-words.ts';

export interface NodesetDetailProps {
  readonly nodeset: NodesetSummary;
  readonly onClose: () => void;
  readonly onDetach: () => void;
}

export function NodesetDetail({ nodeset, onClose, onDetach }: NodesetDetailProps) {
  const { name, description, environment, processes, state } = nodeset;
  const isPython = nodeset.language === 'python' && nodeset.mode !== 'attached';
  const isLive = processes.length > 0 || state === 'loading' || environment?.state === 'building';
  return (
    <aside className="detail nodeset-detail" aria-label={`Nodeset ${name}`}>
      <header className="row spread">
        <h2 className="clip">{name}</h2>
        <Tip text="Close">
          <button type="button" className="button plain icon" aria-label="Close nodeset" onClick={onClose}>
            <X size={15} aria-hidden="true" />
          </button>
        </Tip>
      </header>
      {description === '' ? null : <p className="muted">{description}</p>}
      <Problem nodeset={nodeset} />
      <Actions nodeset={nodeset} onDetach={onDetach} />
      <Facts nodeset={nodeset} />
      {processes.length > 0 ? <Processes processes={processes} /> : null}
      {environment ? <EnvironmentSection name={name} environment={environment} /> : null}
      {isPython ? <InterpreterSection key={`interpreter of ${name}`} nodeset={nodeset} /> : null}
      {nodeset.nodeTypes.length > 0 ? (
        <details>
          <summary>{formatPlural(nodeset.nodeTypes.length, 'node type')}</summary>
          <ul className="small mono nodeset-types">
            {nodeset.nodeTypes.map((type) => (
              <li key={type}>{type}</li>
            ))}
          </ul>
        </details>
      ) : null}
      {nodeset.mode === 'attached' ? (
        <p className="small muted">Its log is where the server runs.</p>
      ) : (
        <NodesetLog key={`log of ${name}`} name={name} isLive={isLive} />
      )}
    </aside>
  );
}

/** Why it cannot be used. A missing environment is offered below, not complained about. */
function Problem({ nodeset }: { readonly nodeset: NodesetSummary }) {
  const { error, errorCode, environment } = nodeset;
  if (error === undefined || environment?.state === 'missing' || environment?.state === 'building')
    return null;
  return (
    <div className="callout bad" role="alert">
      <div className="body">
        <span className="words">{error}</span> <code className="faint">{errorCode}</code>
        {errorCode === 'untrusted' ? <TrustContent offered={nodeset.offered ?? null} /> : null}
      </div>
    </div>
  );
}

/** All nodesets of a folder are one content: they import each other. */
function TrustContent({ offered }: { readonly offered: NodesetSummary['offered'] | null }) {
  const { client } = useStudio();
  const trusting = useAction();
  const { path = '', hash, problem } = offered ?? {};
  // What was looked at, not what is there at the click.
  const trust = (): void =>
    trusting.run(
      async () => void (hash !== undefined && (await client.request('trust.addContent', { path, hash }))),
    );
  return (
    <>
      <div className="row wrap">
        {hash === undefined ? null : (
          <Tip text={`Runs as long as nothing in ${path} changes; an edit asks again`}>
            <button type="button" className="button" disabled={trusting.isBusy} onClick={trust}>
              Trust this content only
            </button>
          </Tip>
        )}
        <a href={formatAddress({ ...home, page: 'settings' })}>Trusted folders, in Settings</a>
      </div>
      {problem === undefined ? null : (
        <p className="small muted">It cannot be trusted by its content: {problem}.</p>
      )}
      {trusting.error ? <span className="problem">{trusting.error.message}</span> : null}
    </>
  );
}

function Actions({ nodeset, onDetach }: Pick<NodesetDetailProps, 'nodeset' | 'onDetach'>) {
  const { client } = useStudio();
  const acting = useAction();
  const { name, state, mode } = nodeset;
  const isBusy = acting.isBusy || state === 'loading' || state === 'unloading';
  const load = (): void => acting.run(async () => void (await client.request('nodesets.load', { name })));
  const unload = (): void => acting.run(async () => void (await client.request('nodesets.unload', { name })));
  const reload = (): void => acting.run(async () => void (await client.request('nodesets.reload', { name })));
  // What it failed with stands above already.
  const isShown = acting.error !== null && acting.error.message !== nodeset.error;
  return (
    <>
      <div className="row wrap">
        {state === 'loaded' ? (
          <button type="button" className="button" disabled={isBusy} onClick={unload}>
            {mode === 'attached' ? 'Let go' : 'Unload'}
          </button>
        ) : (
          <button type="button" className="button" disabled={isBusy} onClick={load}>
            {state === 'failed' ? 'Try again' : 'Load'}
          </button>
        )}
        <button type="button" className="button" disabled={isBusy} onClick={reload}>
          Reload
        </button>
        {mode === 'attached' ? (
          <button type="button" className="button danger" onClick={onDetach}>
            Detach
          </button>
        ) : null}
      </div>
      {isShown && acting.error ? <ErrorCallout title="That did not work." error={acting.error} /> : null}
    </>
  );
}

const modes = {
  local: 'in the app itself',
  server: 'in processes of its own',
  attached: 'on a server that the app does not own; it is never stopped from here',
} as const;

function Facts({ nodeset }: { readonly nodeset: NodesetSummary }) {
  const { glyph, word } = stateOf(nodeset);
  const { source, mode = 'server', parallelism, origin } = nodeset;
  const perWorker = mode === 'attached' ? 'one worker' : 'one for each worker';
  return (
    <dl className="facts">
      <dt>State</dt>
      <dd>
        <Status status={glyph} word={word} />
      </dd>
      <dt>{origin === 'attached' ? 'Address' : 'Source'}</dt>
      <dd className="mono">{source}</dd>
      <dt>Runs</dt>
      <dd>{modes[mode]}</dd>
      <dt>Instances</dt>
      <dd>{instancesOf(parallelism, perWorker)}</dd>
    </dl>
  );
}

function instancesOf(parallelism: NodesetSummary['parallelism'], perWorker: string): string {
  if (parallelism === undefined) return 'not known yet';
  return parallelism === 'replicated' ? perWorker : 'one for all workers';
}

function Processes({ processes }: Pick<NodesetSummary, 'processes'>) {
  return (
    <table className="nodeset-processes small">
      <caption className="small-head">Processes</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className="number">
            pid
          </th>
          <th scope="col" className="number">
            Memory
          </th>
          <th scope="col" className="number">
            Silent for
          </th>
        </tr>
      </thead>
      <tbody>
        {processes.map((process) => (
          <tr key={`${process.name} ${process.pid}`}>
            <td className="mono">{process.name}</td>
            <td className="number">{process.pid}</td>
            <td className="number">{formatBytes(process.rssBytes)}</td>
            <td className="number">{formatDuration(process.silentSinceMs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
