// A button that shows an icon only; its name and its key stand in the tip.
import type { LucideIcon } from 'lucide-react';
import type { CommandId } from '../app/commands.ts';
import { Tip } from './tip.tsx';

export interface IconButtonProps {
  readonly label: string;
  readonly command: CommandId;
  readonly icon: LucideIcon;
  /** Pixels of the icon. */
  readonly size?: number;
  readonly isDisabled?: boolean;
  readonly onClick: () => void;
}

export function IconButton({
  label,
  command,
  icon: Icon,
  size = 16,
  isDisabled = false,
  onClick,
}: IconButtonProps) {
  return (
    <Tip text={label} command={command}>
      <button
        type="button"
        className="button plain icon"
        aria-label={label}
        disabled={isDisabled}
        onClick={onClick}
      >
        <Icon size={size} aria-hidden="true" />
      </button>
    </Tip>
  );
}
