// Attaching to a nodeset server at a URL. The token stays in the environment; only the variable's name is kept.
import { Dialog } from '@base-ui/react/dialog';
import { useState } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Field } from '../../ui/field.tsx';
import { useAction } from '../../ui/use-request.ts';

export interface AttachDialogProps {
  readonly onClose: () => void;
  readonly onAttached: (name: string) => void;
}

export function AttachDialog({ onClose, onAttached }: AttachDialogProps) {
  const { client } = useStudio();
  const [url, setUrl] = useState('http://127.0.0.1:9200');
  const [tokenEnv, setTokenEnv] = useState('');
  const [name, setName] = useState('');
  const attaching = useAction();
  const attach = (): void =>
    attaching.run(async () => {
      const attached = await client.request('nodesets.attach', {
        url: url.trim(),
        tokenEnv: tokenEnv.trim(),
        ...(name.trim() !== '' && { name: name.trim() }),
      });
      onAttached(attached.name);
    });
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop layer" />
        <Dialog.Popup className="dialog layer">
          <Dialog.Title>Attach a nodeset server</Dialog.Title>
          <Dialog.Description className="muted">
            A server that speaks AgentCanvas’s routes, on this machine or another. It serves one worker and is
            never stopped from here.
          </Dialog.Description>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              attach();
            }}
          >
            <Field label="Address">
              {(ids) => (
                <input
                  {...ids}
                  className="input mono"
                  spellCheck={false}
                  value={url}
                  onChange={(event) => setUrl(event.target.value)}
                />
              )}
            </Field>
            <Field
              label="Token variable"
              hint="Environment variable that holds the bearer token; empty: none."
            >
              {(ids) => (
                <input
                  {...ids}
                  className="input mono"
                  spellCheck={false}
                  placeholder="AGENTCANVAS_TOKEN"
                  value={tokenEnv}
                  onChange={(event) => setTokenEnv(event.target.value)}
                />
              )}
            </Field>
            <Field label="Name here" hint="Empty: the server’s own name. Node types begin with it.">
              {(ids) => (
                <input
                  {...ids}
                  className="input"
                  spellCheck={false}
                  value={name}
                  onChange={(event) => setName(event.target.value)}
                />
              )}
            </Field>
            {attaching.error ? <ErrorCallout title="It was not attached." error={attaching.error} /> : null}
            <div className="actions">
              <Dialog.Close className="button">Cancel</Dialog.Close>
              <button
                type="submit"
                className="button primary"
                disabled={attaching.isBusy || url.trim() === ''}
              >
                {attaching.isBusy ? 'Asking the server' : 'Attach'}
              </button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
