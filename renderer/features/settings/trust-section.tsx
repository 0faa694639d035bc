// Folders whose graphs and nodesets run without asking, and contents that do until they are edited.
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
  const addContent = (): void =>
    action.run(async () => {
      await client.request('trust.addContent', { path: folder.trim() });
      setFolder('');
      trusted.reload();
    });
  const removeContent = (path: string): void =>
    action.run(async () => {
      await client.request('trust.removeContent', { path });
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
      intro="Graphs and nodesets in these folders run without asking. The library and the default workspace are always trusted; another workspace is not until you say so. A folder of nodesets, or a graph with commands, can be trusted for exactly its content instead: an edit asks again."
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
        {(trusted.value?.contents ?? []).map(({ path, hash }) => (
          <li key={`content of ${path}`} className="row">
            <code className="grow clip">{path}</code>
            <span className="small muted">
              only as <code>{hash.slice(0, 12)}</code>
            </span>
            <button
              type="button"
              className="button"
              disabled={action.isBusy}
              aria-label={`Trust the content of ${path} no longer`}
              onClick={() => removeContent(path)}
            >
              Remove
            </button>
          </li>
        ))}
        {trusted.value?.folders.length === 0 && trusted.value.contents.length === 0 ? (
          <li className="muted">Nothing else is trusted.</li>
        ) : null}
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
          aria-label="Folder to trust, or file"
          placeholder="/path/to/folder"
          spellCheck={false}
          value={folder}
          onChange={(event) => setFolder(event.target.value)}
        />
        <button type="submit" className="button" disabled={folder.trim() === '' || action.isBusy}>
          Trust folder
        </button>
        <button
          type="button"
          className="button"
          disabled={folder.trim() === '' || action.isBusy}
          onClick={addContent}
        >
          Trust content only
        </button>
      </form>
      {action.error ? <ErrorCallout title="The folder was not changed." error={action.error} /> : null}
    </SettingsSection>
  );
}
