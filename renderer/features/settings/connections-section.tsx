// Engines somewhere else, usually behind SSH: added, opened, forgotten. A token that was pasted opens its engine until
// this page is left; it is not kept.
import { useState } from 'react';
import type { SavedConnection } from '#contract/spawners.ts';
import { useStudioState } from '../../store/use-studio.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Field } from '../../ui/field.tsx';
import { useAction } from '../../ui/use-request.ts';
import { addressToOpen, parseConnection, sshCommand } from './connection-address.ts';
import { SettingsSection } from './settings-section.tsx';

export interface ConnectionsSectionProps {
  readonly connections: readonly SavedConnection[];
  /** At once, without the other changes on the page. */
  readonly save: (connections: SavedConnection[]) => Promise<void>;
}

export function ConnectionsSection({ connections, save }: ConnectionsSectionProps) {
  const [tokens, setTokens] = useState<Readonly<Record<string, string>>>({});
  const action = useAction();
  const keep = (next: SavedConnection[]): void => action.run(() => save(next));
  return (
    <SettingsSection
      id="connections"
      title="Connections"
      intro="Engines on other machines. Runs go on there whether or not somebody looks; opening one shows it in this interface."
    >
      <ul className="lines">
        {connections.map((connection) => (
          <ConnectionLine
            key={connection.name}
            connection={connection}
            token={tokens[connection.name] ?? ''}
            onRemove={() => keep(connections.filter((other) => other !== connection))}
          />
        ))}
        {connections.length === 0 ? <li className="muted">There is none yet.</li> : null}
      </ul>
      <AddConnection
        taken={connections.map(({ name }) => name)}
        isBusy={action.isBusy}
        onAdd={(connection, token) => {
          setTokens((before) => ({ ...before, [connection.name]: token }));
          keep([...connections, connection]);
        }}
      />
      {action.error ? <ErrorCallout title="The connections were not saved." error={action.error} /> : null}
    </SettingsSection>
  );
}

interface ConnectionLineProps {
  readonly connection: SavedConnection;
  readonly token: string;
  readonly onRemove: () => void;
}

function ConnectionLine({ connection, token, onRemove }: ConnectionLineProps) {
  const { name, url, sshCommand: command } = connection;
  const isWindow = useStudioState((state) => state.info?.host === 'electron');
  // The window opens no other one: it goes there itself, and back from its menu.
  const elsewhere = isWindow ? {} : { target: '_blank', rel: 'noreferrer' };
  return (
    <li className="row">
      <span className="grow clip">
        {name} <code>{url}</code>
      </span>
      {command === '' ? null : <CopyButton text={command} label="Copy ssh command" withLabel />}
      <a className="button" href={addressToOpen({ url, token })} {...elsewhere}>
        Open {name}
      </a>
      <button type="button" className="button" aria-label={`Forget ${name}`} onClick={onRemove}>
        Remove
      </button>
    </li>
  );
}

interface AddConnectionProps {
  readonly taken: readonly string[];
  readonly isBusy: boolean;
  readonly onAdd: (connection: SavedConnection, token: string) => void;
}

function AddConnection({ taken, isBusy, onAdd }: AddConnectionProps) {
  const [name, setName] = useState('');
  const [typed, setTyped] = useState('');
  const [sshHost, setSshHost] = useState('');
  const address = parseConnection(typed);
  const command = address ? sshCommand(address.url, sshHost) : '';
  const isTaken = taken.includes(name.trim());
  const add = (): void => {
    if (!address) return;
    onAdd({ name: name.trim(), url: address.url, sshCommand: command }, address.token);
    setName('');
    setTyped('');
    setSshHost('');
  };
  return (
    <form
      aria-label="Add connection"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <Field label="Connection name" problem={isTaken ? 'There is one of this name.' : undefined}>
        {(ids) => (
          <input {...ids} className="input" value={name} onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <Field
        label="Connection address"
        hint="As agentcanvas serve printed it there, with its token; the token is not saved."
        problem={typed.trim() !== '' && !address ? 'This is no address of an engine.' : undefined}
      >
        {(ids) => (
          <input
            {...ids}
            className="input mono"
            placeholder="http://127.0.0.1:8710/#token=…"
            spellCheck={false}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
      <Field label="SSH host" hint="Where that machine is reached by ssh; empty: it is this one.">
        {(ids) => (
          <input
            {...ids}
            className="input mono"
            placeholder="you@gpu-box"
            spellCheck={false}
            value={sshHost}
            onChange={(event) => setSshHost(event.target.value)}
          />
        )}
      </Field>
      {command === '' ? null : (
        <p className="row">
          <code className="grow clip">{command}</code>
          <CopyButton text={command} label="Copy ssh command" withLabel />
        </p>
      )}
      <button type="submit" className="button" disabled={name.trim() === '' || isTaken || !address || isBusy}>
        Add connection
      </button>
    </form>
  );
}
