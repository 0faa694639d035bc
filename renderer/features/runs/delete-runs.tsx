// Deleting asks first and says where runs go.
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatPlural } from '../../ui/format.ts';
import { useAction } from '../../ui/use-request.ts';

export interface DeleteRunsProps {
  /** Empty = closed. */
  readonly runs: readonly { readonly runId: string; readonly name: string }[];
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

const shownNames = 5;

export function DeleteRuns({ runs, onClose, onDeleted }: DeleteRunsProps) {
  const { client } = useStudio();
  const hasBin = useStudioState((state) => state.info?.capabilities.includes('systemBin') ?? false);
  const action = useAction();
  const remove = (): void =>
    action.run(async () => {
      await client.request('runs.delete', { runIds: runs.map((run) => run.runId) });
      onClose();
      onDeleted();
    });
  return (
    <ConfirmDialog
      isOpen={runs.length > 0}
      title={runs.length === 1 ? 'Delete this run?' : `Delete ${formatPlural(runs.length, 'run')}?`}
      action={hasBin ? 'Move to bin' : 'Delete'}
      isBusy={action.isBusy}
      onConfirm={remove}
      onClose={() => {
        action.clear();
        onClose();
      }}
    >
      <ul>
        {runs.slice(0, shownNames).map((run) => (
          <li key={run.runId} className="clip">
            {run.name}
          </li>
        ))}
        {runs.length > shownNames ? <li className="muted">and {runs.length - shownNames} more</li> : null}
      </ul>
      <p className="muted">
        {hasBin
          ? 'The folders with results and recordings go to the system’s bin.'
          : 'The folders with results and recordings leave the workspace’s runs; this cannot be undone here.'}
      </p>
      {action.error ? <ErrorCallout title="Nothing was deleted." error={action.error} /> : null}
    </ConfirmDialog>
  );
}
