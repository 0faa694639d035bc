// What can be done with a run from its line in History. An interrupted or paused run offers Resume in the line itself.
import { useEffect } from 'react';
import type { RunListItem } from '#contract/run.ts';
import { isActive } from '../../store/run-session.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ActionMenu } from '../../ui/action-menu.tsx';
import { formatCount } from '../../ui/format.ts';
import { useRunActions } from './use-run-actions.ts';

export interface HistoryMenuProps {
  readonly item: RunListItem;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

export function HistoryMenu({ item, onEdit, onDelete }: HistoryMenuProps) {
  const { navigation, store } = useStudio();
  const actions = useRunActions(item.runId);
  const missing = item.counts.notRun;
  const canResume = !isActive(item.status) && missing > 0;
  const { error } = actions.action;
  const { clear } = actions.action;
  useEffect(() => {
    if (!error) return;
    // The line has no room for it.
    store
      .getState()
      .addNotice({ level: 'error', message: `${item.name}: ${error.message}`, runId: item.runId });
    clear();
  }, [error, clear, store, item]);
  const offersResume = canResume && (item.status === 'interrupted' || item.status === 'paused');
  return (
    <span className="row tight end-row">
      {offersResume ? (
        <button
          type="button"
          className="button small-button"
          disabled={actions.action.isBusy}
          onClick={() => actions.resume()}
        >
          Resume {formatCount(missing)}
        </button>
      ) : null}
      <ActionMenu
        label={`Actions for ${item.name}`}
        isQuiet
        groups={[
          [
            { label: 'Open', run: () => navigation.go({ page: 'history', run: item.runId }) },
            ...(canResume
              ? [{ label: `Resume the ${formatCount(missing)} missing`, run: () => actions.resume() }]
              : []),
            { label: 'Duplicate as new', run: actions.duplicate },
            { label: 'Rename, tags and note', run: onEdit },
          ],
          [
            { label: 'Export CSV', run: () => actions.exportAs('csv') },
            { label: 'Export JSON', run: () => actions.exportAs('json') },
            { label: 'Export JSONL', run: () => actions.exportAs('jsonl') },
          ],
          [
            {
              label: 'Delete',
              isDangerous: true,
              isDisabled: isActive(item.status) && item.status !== 'queued',
              run: onDelete,
            },
          ],
        ]}
      />
    </span>
  );
}
