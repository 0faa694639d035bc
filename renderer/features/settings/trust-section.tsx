// Folders whose graphs and nodesets run without asking.
import { useState } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { useAction, useLoad } from '../../ui/use-request.ts';
import { SettingsSection } from './settings-section.tsx';

export function TrustSection() {
  const { client } = useStudio();
  const [folder, setFolder] = useState('');
  const trusted = useLoad('trust', (signal) => client.request('trust.list', {}, signal));
  const action = useAction();
  const add = (): void =>
    action.run(async () => {
      await client.request('trust.add', { folder: folder.trim() });
      setFolder('');
      trusted.reload();
    });
  const remove = (gone: string): void =>
    action.run(async () => {
      await client.request('trust.remove', { folder: gone });
      trusted.reload();
    });
  return (
    <SettingsSection
      id="trust"
      title="Trusted folders"
      intro="Graphs and nodesets in these folders run without asking. The library and the default workspace are always trusted; another workspace is not until you say so."
    >
      {trusted.error ? <ErrorCallout title="The folders could not be listed." error={trusted.error} /> : null}
      {trusted.value === null && trusted.isLoading ? (
        <Skeleton lines={2} label="Listing trusted folders" />
      ) : null}
      <ul className="lines">
        {(trusted.value?.folders ?? []).map((trustedFolder) => (
          <li key={trustedFolder} className="row">
            <code className="grow clip">{trustedFolder}</code>
            <button
              type="button"
              className="button"
              disabled={action.isBusy}
              aria-label={`Trust ${trustedFolder} no longer`}
              onClick={() => remove(trustedFolder)}
            >
              Remove
            </button>
          </li>
        ))}
        {trusted.value?.folders.length === 0 ? <li className="muted">No other folder is trusted.</li> : null}
      </ul>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <input
          className="input mono"
          aria-label="Folder to trust"
          placeholder="/path/to/folder"
          spellCheck={false}
          value={folder}
          onChange={(event) => setFolder(event.target.value)}
        />
        <button type="submit" className="button" disabled={folder.trim() === '' || action.isBusy}>
          Trust folder
        </button>
      </form>
      {action.error ? <ErrorCallout title="The folder was not changed." error={action.error} /> : null}
    </SettingsSection>
  );
}
