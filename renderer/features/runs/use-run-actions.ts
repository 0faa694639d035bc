// What can be done with a run, with one failure kept for the place where it was started.
import { useCallback } from 'react';
import type { RequestInput } from '#contract/api.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { download } from '../../ui/download.ts';
import { useAction, type Action } from '../../ui/use-request.ts';

export type ExportFormat = RequestInput<'runs.export'>['format'];

export interface RunActions {
  readonly action: Action;
  readonly stop: () => void;
  readonly cancel: () => void;
  readonly resume: (acceptDifferences?: boolean) => void;
  readonly duplicate: () => void;
  readonly exportAs: (format: ExportFormat, filter?: string) => void;
  readonly openFolder: () => void;
}

/** `shared`: whose busy state and failure it is, where a page shows them for several places. */
export function useRunActions(runId: string, shared?: Action): RunActions {
  const { client, store, navigation } = useStudio();
  const own = useAction();
  const action = shared ?? own;
  const { run } = action;
  const stop = useCallback(
    () => run(async () => void (await client.request('runs.stop', { runId }))),
    [run, client, runId],
  );
  const cancel = useCallback(
    () => run(async () => void (await client.request('runs.cancel', { runId }))),
    [run, client, runId],
  );
  const resume = (acceptDifferences = false): void =>
    run(async () => {
      await client.request('runs.resume', { runId, acceptDifferences });
      navigation.go({ page: 'evaluate', run: runId });
    });
  const duplicate = (): void =>
    run(async () => {
      const { record } = await client.request('runs.get', { runId });
      store.getState().setDraft(record.config);
      navigation.go({ page: 'evaluate', graph: record.config.graph });
    });
  const exportAs = (format: ExportFormat, filter = ''): void =>
    run(async () => download(await client.request('runs.export', { runId, format, filter })));
  const openFolder = (): void => run(async () => void (await client.request('shell.openFolder', { runId })));
  return { action, stop, cancel, resume, duplicate, exportAs, openFolder };
}
