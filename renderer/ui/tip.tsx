// A tooltip around one control. Keys come from the command table, so a tooltip never names a key that does nothing.
import { Tooltip } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';
import { commandOf, type CommandId } from '../app/commands.ts';
import { keyLabels } from '../app/key-bindings.ts';
import { isMac } from './platform.ts';

export interface TipProps {
  readonly text: string;
  readonly command?: CommandId;
  readonly children: ReactElement<Record<string, unknown>>;
}

export function Tip({ text, command, children }: TipProps) {
  const keys = command ? (commandOf(command).keys[0] ?? null) : null;
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className="layer">
          <Tooltip.Popup className="tooltip">
            {text}
            {keys ? (
              <span>
                {' '}
                <Keys chord={keys} />
              </span>
            ) : null}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

export function Keys({ chord }: { readonly chord: string }) {
  return (
    <span className="keys">
      {keyLabels(chord, isMac).map((label, at) => (
        // Keys of one chord never change places.
        // oxlint-disable-next-line react/no-array-index-key
        <kbd className="key" key={at}>
          {label}
        </kbd>
      ))}
    </span>
  );
}
