// Asks for the name of a graph that gets a file of its own.
import { Dialog } from '@base-ui/react/dialog';
import { useState, type FormEvent } from 'react';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import type { Action } from '../../ui/use-request.ts';

export interface SaveDialogProps {
  readonly suggestion: string;
  readonly reason: string;
  readonly saving: Action;
  readonly onSave: (name: string) => void;
  readonly onClose: () => void;
}

export function SaveDialog({ suggestion, reason, saving, onSave, onClose }: SaveDialogProps) {
  const [name, setName] = useState(suggestion);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '') onSave(name.trim());
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop layer" />
        <Dialog.Popup className="dialog layer">
          <Dialog.Title>Save in the workspace</Dialog.Title>
          <form className="stack" onSubmit={submit}>
            <p className="muted">{reason}</p>
            <label className="stacked-field">
              <span className="label">Name</span>
              <input
                className="input"
                maxLength={80}
                value={name}
                onFocus={(event) => event.target.select()}
                onChange={(event) => setName(event.target.value)}
              />
            </label>
            {saving.error ? <ErrorCallout title="It was not saved." error={saving.error} /> : null}
            <div className="actions">
              <Dialog.Close className="button">Keep editing</Dialog.Close>
              <button type="submit" className="button primary" disabled={name.trim() === '' || saving.isBusy}>
                Save
              </button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
