// A button that opens a list of actions.
import { Menu } from '@base-ui/react/menu';
import { Ellipsis } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';

export interface MenuAction {
  readonly label: string;
  readonly run: () => void;
  readonly isDisabled?: boolean;
  readonly isDangerous?: boolean;
  readonly icon?: ReactNode;
}

export interface ActionMenuProps {
  readonly label: string;
  /** Groups, divided by a line. */
  readonly groups: readonly (readonly MenuAction[])[];
  /** Instead of three dots. */
  readonly trigger?: ReactNode;
  readonly isQuiet?: boolean;
}

export function ActionMenu({ label, groups, trigger, isQuiet = false }: ActionMenuProps) {
  const className = trigger ? 'button' : isQuiet ? 'button plain icon' : 'button icon';
  return (
    <Menu.Root>
      <Menu.Trigger className={className} aria-label={label}>
        {trigger ?? <Ellipsis size={15} aria-hidden="true" />}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="layer">
          <Menu.Popup className="popup">
            <MenuGroups groups={groups} />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** The items of a menu, groups divided by a line. */
export function MenuGroups({ groups }: Pick<ActionMenuProps, 'groups'>) {
  return (
    <>
      {groups
        .filter((group) => group.length > 0)
        .map((group, at) => (
          <Fragment key={group[0]?.label}>
            {at > 0 ? <Menu.Separator className="menu-line" /> : null}
            {group.map((action) => (
              <Menu.Item
                key={action.label}
                className={action.isDangerous ? 'menu-item danger' : 'menu-item'}
                disabled={action.isDisabled ?? false}
                onClick={action.run}
              >
                {action.icon}
                {action.label}
              </Menu.Item>
            ))}
          </Fragment>
        ))}
    </>
  );
}
