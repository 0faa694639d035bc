// What can be done with a run from its line in History: one menu for all lines, opened where it was asked for.
import { Menu } from '@base-ui/react/menu';
import { Ellipsis } from 'lucide-react';
import type { RunListItem } from '#contract/run.ts';
import { isActive } from '../../store/run-session.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { MenuGroups } from '../../ui/action-menu.tsx';
import { formatCount } from '../../ui/format.ts';
import type { Action } from '../../ui/use-request.ts';
import { useRunActions } from './use-run-actions.ts';

export interface MenuTarget {
  readonly item: RunListItem;
  readonly anchor: HTMLElement;
}

const dots = <Ellipsis size={15} aria-hidden="true" />;

/** Opens the menu. A hot path: hundreds of lines are drawn, so none has a menu of its own. */
export function MenuButton({
  item,
  onMenu,
}: {
  readonly item: RunListItem;
  readonly onMenu: (target: MenuTarget) => void;
}) {
  return (
    <button
      type="button"
      className="button plain icon"
      aria-label={`Actions for ${item.name}`}
      aria-haspopup="menu"
      onClick={(event) => {
        event.stopPropagation();
        onMenu({ item, anchor: event.currentTarget });
      }}
    >
      {dots}
    </button>
  );
}

export interface HistoryMenuProps {
  readonly target: MenuTarget;
  /** Failures are shown by the page. */
  readonly action: Action;
  readonly onEdit: (item: RunListItem) => void;
  readonly onDelete: (item: RunListItem) => void;
  readonly onClose: () => void;
}

export function HistoryMenu({ target, action, onEdit, onDelete, onClose }: HistoryMenuProps) {
  const { navigation } = useStudio();
  const { item, anchor } = target;
  const actions = useRunActions(item.runId, action);
  const missing = item.counts.notRun;
  const canResume = !isActive(item.status) && missing > 0;
  return (
    <Menu.Root open onOpenChange={(open) => !open && onClose()}>
      <Menu.Portal>
        <Menu.Positioner anchor={anchor} sideOffset={4} align="end" className="layer">
          <Menu.Popup className="popup" aria-label={`Actions for ${item.name}`} finalFocus={() => anchor}>
            <MenuGroups
              groups={[
                [
                  { label: 'Open', run: () => navigation.go({ page: 'history', run: item.runId }) },
                  ...(canResume
                    ? [{ label: `Resume the ${formatCount(missing)} missing`, run: () => actions.resume() }]
                    : []),
                  { label: 'Duplicate as new', run: actions.duplicate },
                  {
                    label: 'Check its number with more workers',
                    run: () => navigation.go({ page: 'compare', runs: [item.runId], tab: 'parallel' }),
                  },
                  { label: 'Rename, tags and note', run: () => onEdit(item) },
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
                    run: () => onDelete(item),
                  },
                ],
              ]}
            />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
