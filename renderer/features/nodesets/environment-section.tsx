// The environment of packages a nodeset asks for: what is in it, whether it is there, and building it.
import { Check, Circle, LoaderCircle } from 'lucide-react';
import type { NodesetEnvironment } from '#contract/nodeset.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatDuration } from '../../ui/format.ts';
import { useAction } from '../../ui/use-request.ts';

const stages = ['resolving', 'creating', 'installing', 'checking'] as const;
const stageTitles = {
  resolving: 'Find a Python',
  creating: 'Make the environment',
  installing: 'Install packages',
  checking: 'Check it',
} as const;

export interface EnvironmentSectionProps {
  readonly name: string;
  readonly environment: NodesetEnvironment;
}

export function EnvironmentSection({ name, environment }: EnvironmentSectionProps) {
  const { state, requirements, requiresPython, folder } = environment;
  return (
    <section className="stack nodeset-part" aria-label="Environment">
      <h3>Environment</h3>
      <dl className="facts small">
        <dt>Packages</dt>
        <dd className="mono">{requirements.join(', ') || 'none'}</dd>
        {requiresPython === '' ? null : (
          <>
            <dt>Python</dt>
            <dd className="mono">{requiresPython}</dd>
          </>
        )}
        {folder === undefined ? null : (
          <>
            <dt>Folder</dt>
            <dd className="mono">{folder}</dd>
          </>
        )}
      </dl>
      {state === 'unneeded' ? (
        <p className="small muted">The default interpreter has these packages; one of its own is optional.</p>
      ) : null}
      {state === 'building' ? <Stages environment={environment} /> : null}
      {state === 'failed' ? (
        <div className="callout bad" role="alert">
          <div className="body">{environment.message ?? 'The build failed; its log is below.'}</div>
        </div>
      ) : null}
      <BuildActions name={name} environment={environment} />
    </section>
  );
}

function Stages({ environment }: { readonly environment: NodesetEnvironment }) {
  const current = stages.findIndex((stage) => stage === environment.stage);
  return (
    <ol className="stack tight" aria-label="Stages of the build">
      {stages.map((stage, at) => {
        const Glyph = at < current ? Check : at === current ? LoaderCircle : Circle;
        return (
          <li key={stage} className={at > current ? 'row faint' : 'row'} aria-current={at === current}>
            <Glyph size={13} aria-hidden="true" />
            <span>{stageTitles[stage]}</span>
            {at === current && environment.elapsedMs !== undefined ? (
              <span className="faint small">began after {formatDuration(environment.elapsedMs)}</span>
            ) : null}
          </li>
        );
      })}
    </ol>
  );
}

function BuildActions({ name, environment }: EnvironmentSectionProps) {
  const { client } = useStudio();
  const building = useAction();
  const { state, command } = environment;
  const build = (): void =>
    building.run(async () => void (await client.request('nodesets.buildEnvironment', { name, wait: false })));
  const cancel = (): void =>
    building.run(async () => void (await client.request('nodesets.cancelBuild', { name })));
  const isOptional = state === 'ready' || state === 'unneeded';
  const word = state === 'ready' ? 'Build again' : state === 'failed' ? 'Try again' : 'Build environment';
  return (
    <>
      <div className="row wrap">
        {state === 'building' ? (
          <button type="button" className="button" disabled={building.isBusy} onClick={cancel}>
            Cancel the build
          </button>
        ) : (
          <button
            type="button"
            className={isOptional ? 'button' : 'button primary'}
            disabled={building.isBusy}
            onClick={build}
          >
            {word}
          </button>
        )}
        <CopyButton text={command} label="Copy the command that builds it" />
      </div>
      {building.error ? <ErrorCallout title="The build did not start." error={building.error} /> : null}
    </>
  );
}
