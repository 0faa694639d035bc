// Nothing was kept of an episode, or of a whole run: why, and the command that keeps it.
import { commandLineOf, shellLine } from '#contract/command-line.ts';
import type { EvalConfig } from '#contract/eval-config.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { TextBlock } from '../../ui/text-block.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { policyWords } from './policy-words.ts';

export interface NoRecordingProps {
  readonly runId: string;
  /** Null: the whole run. */
  readonly ordinal: number | null;
}

export function NoRecording({ runId, ordinal }: NoRecordingProps) {
  const { client } = useStudio();
  const run = useLoad(runId, (signal) => client.request('runs.get', { runId }, signal));
  const attempts = useLoad(ordinal === null ? null : `${runId} ${ordinal}`, (signal) =>
    client.request('runs.attempts', { runId, ordinal: ordinal ?? 0 }, signal),
  );
  const config = run.value?.record.config;
  const last = attempts.value?.attempts.at(-1);
  const command = config ? commandFor(config, last?.episodeId ?? null) : null;
  return (
    <EmptyState
      title={ordinal === null ? 'Nothing of this run was recorded' : 'This episode has no recording'}
      actions={
        <a
          className="button"
          href={formatAddress({ ...home, page: 'history', run: runId, view: 'episodes', episode: ordinal })}
        >
          {ordinal === null ? 'Open the run' : 'Open the episode in its run'}
        </a>
      }
    >
      {run.error ? <p>{run.error.message}</p> : null}
      {last?.recording === 'failed' ? (
        <p>
          Recording it failed, for example because the disk was full. The result of the episode counts all the
          same.
        </p>
      ) : config ? (
        <p>
          {run.value?.record.importedFrom === undefined
            ? policyWords(config.recording)
            : 'The run was imported from results only, without recordings.'}
          {last ? ` The episode ended as ${last.status.replaceAll('_', ' ')}.` : ''}
        </p>
      ) : null}
      {command && run.value?.record.importedFrom === undefined ? (
        <>
          <p>This command runs {ordinal === null ? 'the same episodes' : 'it'} again and keeps everything:</p>
          <TextBlock label="Command" className="plain-block">
            {command}
          </TextBlock>
          <CopyButton text={command} label="Copy command" withLabel />
        </>
      ) : null}
    </EmptyState>
  );
}

function commandFor(config: EvalConfig, episodeId: string | null): string {
  const episodes = episodeId === null ? config.episodes : { ids: [episodeId] };
  return shellLine(['agentcanvas', 'eval', ...commandLineOf({ ...config, episodes, recording: 'all' })]);
}
