// Asks before something that cannot be taken back. Focus starts on the harmless button.
import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useRef, type ReactNode } from 'react';

export interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly action: string;
  readonly isBusy?: boolean;
  readonly children: ReactNode;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, title, action, isBusy = false, children, onConfirm, onClose } = props;
  const keep = useRef<HTMLButtonElement>(null);
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop layer" />
        <AlertDialog.Popup className="dialog layer" initialFocus={keep}>
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div className="stack" />}>{children}</AlertDialog.Description>
          <div className="actions">
            <AlertDialog.Close ref={keep} className="button">
              Keep
            </AlertDialog.Close>
            <button type="button" className="button danger" disabled={isBusy} onClick={onConfirm}>
              {action}
            </button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
