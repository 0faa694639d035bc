// All keys on one sheet, read from the command table.
import { Dialog } from '@base-ui/react/dialog';
import { useStudioState } from '../store/use-studio.tsx';
import { Keys } from '../ui/tip.tsx';
import { commands, scopeTitles, type CommandScope } from './commands.ts';

const shownScopes: readonly CommandScope[] = ['global', 'canvas', 'table', 'detail', 'player'];

export function KeySheet() {
  const isOpen = useStudioState((state) => state.overlay === 'keys');
  const setOverlay = useStudioState((state) => state.setOverlay);
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => setOverlay(open ? 'keys' : 'none')}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop layer" />
        <Dialog.Popup className="dialog wide layer">
          <div className="row spread">
            <Dialog.Title>Keys</Dialog.Title>
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
          <KeyTable />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

export function KeyTable() {
  return (
    <div className="key-table">
      {shownScopes.map((scope) => (
        <section key={scope} aria-label={scopeTitles[scope]}>
          <h3>{scopeTitles[scope]}</h3>
          <ul>
            {commands
              .filter((command) => command.scope === scope)
              .map((command) => (
                <li key={command.id}>
                  <span>{command.title}</span>
                  <span>{command.keys[0] ? <Keys chord={command.keys[0]} /> : null}</span>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
