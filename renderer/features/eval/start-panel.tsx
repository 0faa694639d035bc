// Ready or not, the command that does the same, and the button. When the guard is held, Start becomes Add to queue.
import { Check, CircleX, LoaderCircle, Play, ListPlus, TriangleAlert } from 'lucide-react';
import { commandLineOf, shellLine } from '#contract/command-line.ts';
import type { EvalConfig } from '#contract/eval-config.ts';
import type { RequestOutput } from '#contract/api.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useCommand, useStudio, useStudioState } from '../../store/use-studio.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatPlural } from '../../ui/format.ts';
import { Skeleton } from '../../ui/page.tsx';
import { Tip } from '../../ui/tip.tsx';
import { TrustButtons } from '../../ui/trust-buttons.tsx';
import { useAction, type Loaded } from '../../ui/use-request.ts';
import { copyText } from '../../ui/copy-button.tsx';
import { CommandText, TextBlock } from '../../ui/text-block.tsx';

type Preflight = RequestOutput<'runs.preflight'>;

export interface StartPanelProps {
  readonly config: EvalConfig | null;
  readonly preflight: Loaded<Preflight>;
  /** Errors of the graph: it cannot run. */
  readonly isBlocked: boolean;
  readonly onStarted: () => void;
}

export function StartPanel({ config, preflight, isBlocked, onStarted }: StartPanelProps) {
  const { client, navigation } = useStudio();
  const holder = useStudioState((state) => state.guard.holder);
  const isReadOnly = useStudioState((state) => state.info?.readOnly ?? false);
  const starting = useAction();
  const isReady = config !== null && preflight.value?.ok === true && !isBlocked && !isReadOnly;
  const whenBusy = holder ? 'queue' : 'refuse';
  const start = (choice: 'queue' | 'refuse'): void =>
    starting.run(async () => {
      if (!config) return;
      const { runId } = await client.request('runs.start', { config, whenBusy: choice });
      onStarted();
      navigation.go({ page: 'evaluate', run: runId });
    });
  useCommand('run.start', isReady ? () => start(whenBusy) : null);
  const command = config
    ? shellLine(['agentcanvas', 'eval', ...commandLineOf(config), ...(holder ? ['--queue'] : [])])
    : null;
  useCommand('command.copy', command ? () => void copyText(command) : null);
  const Icon = holder ? ListPlus : Play;
  return (
    <aside className="start-panel" aria-label="Start">
      <PreflightStrip preflight={preflight} hasConfig={config !== null} isBlocked={isBlocked} />
      {holder ? (
        <p className="small muted">
          {holder.kind === 'eval' ? (
            <>
              <a href={formatAddress({ ...home, page: 'evaluate', run: holder.id })}>{holder.label}</a> is
              running. This run starts when it ends.
            </>
          ) : (
            <>The canvas plays {holder.label}. This run starts when it ends.</>
          )}
        </p>
      ) : null}
      {isReadOnly ? (
        <p className="small muted">The workspace is open read-only, so nothing can be started here.</p>
      ) : null}
      <Tip text={holder ? 'Add to the queue' : 'Start the evaluation'} command="run.start">
        <button
          type="button"
          className="button primary wide big"
          disabled={!isReady || starting.isBusy}
          onClick={() => start(whenBusy)}
        >
          <Icon size={15} aria-hidden="true" />
          {holder ? 'Add to queue' : 'Start'}
        </button>
      </Tip>
      {starting.error ? (
        <ErrorCallout title="The run did not start." error={starting.error}>
          {starting.error.code === 'guard_busy' ? (
            <button type="button" className="button" onClick={() => start('queue')}>
              Add to queue
            </button>
          ) : null}
          <TrustButtons error={starting.error} onTrusted={() => start(whenBusy)} />
        </ErrorCallout>
      ) : null}
      {command ? (
        <div className="command-line">
          <div className="row spread">
            <h2 className="small-head">The same on the command line</h2>
            <CopyButton text={command} label="Copy command" />
          </div>
          <TextBlock label="Command" className="plain-block">
            <CommandText command={command} />
          </TextBlock>
        </div>
      ) : null}
    </aside>
  );
}

interface PreflightStripProps {
  readonly preflight: Loaded<Preflight>;
  readonly hasConfig: boolean;
  readonly isBlocked: boolean;
}

function PreflightStrip({ preflight, hasConfig, isBlocked }: PreflightStripProps) {
  const { value, error, isLoading } = preflight;
  if (!hasConfig)
    return (
      <div className="callout warn">
        <TriangleAlert size={16} aria-hidden="true" />
        <output className="body">The form has a mistake; it is marked at its field.</output>
      </div>
    );
  if (error)
    return (
      <ErrorCallout title="The checks could not be made." error={error}>
        <TrustButtons error={error} onTrusted={preflight.reload} />
        <button type="button" className="button" onClick={preflight.reload}>
          Check again
        </button>
      </ErrorCallout>
    );
  if (!value) return <Skeleton lines={4} label="Checking" />;
  const isGood = value.ok && !isBlocked;
  return (
    <section className={`callout preflight ${isGood ? 'good' : 'bad'}`} aria-label="Checks before the start">
      <div className="body stack">
        <output className="row">
          {isGood ? <Check size={15} aria-hidden="true" /> : <CircleX size={15} aria-hidden="true" />}
          <strong>
            {isGood ? 'Ready' : 'Not ready'}
            {isGood && value.episodes !== null ? `: ${formatPlural(value.episodes, 'episode')}` : ''}
          </strong>
          {isLoading ? <LoaderCircle size={13} className="faint" aria-label="Checking again" /> : null}
        </output>
        <ul>
          {value.checks.map((check) => (
            <li
              key={check.name}
              className={check.ok ? 'check-good' : check.warning ? 'check-warn' : 'check-bad'}
            >
              {check.ok ? (
                <Check size={13} aria-label="good" />
              ) : check.warning ? (
                <TriangleAlert size={13} aria-label="look at this" />
              ) : (
                <CircleX size={13} aria-label="to fix" />
              )}
              <span>
                {check.message} {check.ok ? '' : check.fix}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
