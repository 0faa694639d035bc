// Name, tags and note of a run.
import { Dialog } from '@base-ui/react/dialog';
import { useState } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Field } from '../../ui/field.tsx';
import { useAction } from '../../ui/use-request.ts';

export interface EditRunProps {
  readonly run: {
    readonly runId: string;
    readonly name: string;
    readonly tags: readonly string[];
    readonly note: string;
  };
  readonly onClose: () => void;
}

export function EditRun({ run, onClose }: EditRunProps) {
  const { client } = useStudio();
  const [name, setName] = useState(run.name);
  const [tags, setTags] = useState(run.tags.join(', '));
  const [note, setNote] = useState(run.note);
  const saving = useAction();
  const save = (): void =>
    saving.run(async () => {
      const list = [
        ...new Set(
          tags
            .split(',')
            .map((tag) => tag.trim())
            .filter(Boolean),
        ),
      ];
      await client.request('runs.update', {
        runId: run.runId,
        name: name.trim() || run.name,
        tags: list,
        note,
      });
      onClose();
    });
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop layer" />
        <Dialog.Popup className="dialog layer">
          <Dialog.Title>Name, tags and note</Dialog.Title>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              save();
            }}
          >
            <Field label="Name">
              {(ids) => (
                <input
                  {...ids}
                  className="input"
                  maxLength={200}
                  value={name}
                  onChange={(event) => setName(event.target.value)}
                />
              )}
            </Field>
            <Field label="Tags" hint="Divided by commas">
              {(ids) => (
                <input
                  {...ids}
                  className="input"
                  value={tags}
                  onChange={(event) => setTags(event.target.value)}
                />
              )}
            </Field>
            <Field label="Note">
              {(ids) => (
                <textarea
                  {...ids}
                  className="textarea"
                  rows={4}
                  maxLength={10_000}
                  value={note}
                  onChange={(event) => setNote(event.target.value)}
                />
              )}
            </Field>
            {saving.error ? <ErrorCallout title="The change was not saved." error={saving.error} /> : null}
            <div className="actions">
              <Dialog.Close className="button">Leave as it was</Dialog.Close>
              <button type="submit" className="button primary" disabled={saving.isBusy}>
                Save
              </button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
