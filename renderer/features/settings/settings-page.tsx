// Settings of the workspace's owner: where things are, how long may be waited, what is trusted, and the doctor.
import { useState } from 'react';
import { settings as settingsSchema, type Settings } from '#contract/settings.ts';
import { KeyTable } from '../../app/key-sheet.tsx';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatBytes } from '../../ui/format.ts';
import { PageHead, Skeleton } from '../../ui/page.tsx';
import { useAction, useLoad } from '../../ui/use-request.ts';
import { AppearanceSection } from './appearance-section.tsx';
import { ConnectionsSection } from './connections-section.tsx';
import { DoctorSection } from './doctor-section.tsx';
import { LanguageModelsSection } from './language-models-section.tsx';
import { LimitsSection } from './limits-section.tsx';
import { PythonSection } from './python-section.tsx';
import { SettingsSection } from './settings-section.tsx';
import { SpawnersSection } from './spawners-section.tsx';
import { TrustSection } from './trust-section.tsx';

const sections = [
  ['workspace', 'Workspace'],
  ['appearance', 'Appearance'],
  ['language-models', 'Language models'],
  ['python', 'Python and nodesets'],
  ['spawners', 'Where nodesets run'],
  ['connections', 'Connections'],
  ['trust', 'Trusted folders'],
  ['deadlines', 'Deadlines'],
  ['limits', 'Process limits'],
  ['doctor', 'Doctor'],
  ['keys', 'Keys'],
] as const;

export function SettingsPage() {
  const { client } = useStudio();
  const stored = useLoad('settings', (signal) => client.request('settings.get', {}, signal));
  return (
    <>
      <PageHead title="Settings" sub={stored.value ? `Kept in ${stored.value.path}` : undefined} />
      <div className="settings">
        <nav aria-label="Sections">
          <ul>
            {sections.map(([id, title]) => (
              <li key={id}>
                <button
                  type="button"
                  className="button plain"
                  onClick={() => document.getElementById(id)?.scrollIntoView({ block: 'start' })}
                >
                  {title}
                </button>
              </li>
            ))}
          </ul>
        </nav>
        <div className="settings-body" tabIndex={-1}>
          <WorkspaceSection />
          {stored.error ? (
            <ErrorCallout title="The settings could not be read." error={stored.error}>
              <button type="button" className="button" onClick={stored.reload}>
                Try again
              </button>
            </ErrorCallout>
          ) : null}
          {stored.value ? (
            <EditableSettings stored={stored.value.settings} />
          ) : stored.error ? null : (
            <Skeleton lines={8} label="Reading the settings" />
          )}
          <SettingsSection id="doctor" title="Doctor" intro="Checks what AgentCanvas needs on this machine.">
            <DoctorSection />
          </SettingsSection>
          <SettingsSection id="keys" title="Keys">
            <KeyTable />
          </SettingsSection>
        </div>
      </div>
    </>
  );
}

function WorkspaceSection() {
  const info = useStudioState((state) => state.info);
  if (!info)
    return (
      <SettingsSection id="workspace" title="Workspace">
        <Skeleton lines={4} label="Reading the workspace" />
      </SettingsSection>
    );
  return (
    <SettingsSection
      id="workspace"
      title="Workspace"
      intro="Another workspace is chosen at the start, with --workspace."
    >
      <dl className="facts">
        <dt>Workspace</dt>
        <dd>
          <code>{info.workspace}</code> {info.readOnly ? <span className="chip">read-only</span> : null}
        </dd>
        <dt>Library</dt>
        <dd>
          <code>{info.library}</code>
        </dd>
        <dt>AgentCanvas</dt>
        <dd>
          {info.version}, {info.host === 'electron' ? 'desktop app' : 'web host'}
        </dd>
        <dt>Machine</dt>
        <dd>
          {info.platform}, {info.cores} cores, {formatBytes(info.memoryBytes)}
        </dd>
        {info.docsUrl ? (
          <>
            <dt>Documentation</dt>
            <dd>
              <a href={info.docsUrl} target="_blank" rel="noreferrer">
                {info.docsUrl}
              </a>
            </dd>
          </>
        ) : null}
      </dl>
    </SettingsSection>
  );
}

export interface SettingsFormProps {
  readonly draft: Settings;
  readonly problems: Readonly<Record<string, string>>;
  readonly change: (change: Partial<Settings>) => void;
}

/** Edits are kept together and saved together; the theme is tried at once. */
function EditableSettings({ stored }: { readonly stored: Settings }) {
  const { client, store } = useStudio();
  const [saved, setSaved] = useState(stored);
  const [draft, setDraft] = useState(stored);
  const saving = useAction();
  const parsed = settingsSchema.safeParse(draft);
  const problems = Object.fromEntries(
    (parsed.error?.issues ?? []).map((issue) => [issue.path.join('.'), issue.message]),
  );
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  const change = (part: Partial<Settings>): void => {
    setDraft((before) => ({ ...before, ...part }));
    if (part.appearance) store.getState().setTheme(part.appearance.theme);
  };
  const save = (): void =>
    saving.run(async () => {
      if (!parsed.success) return;
      await client.request('settings.set', { settings: parsed.data });
      store.getState().setWorkspace({ settings: parsed.data });
      setSaved(parsed.data);
      setDraft(parsed.data);
    });
  const persist = async (part: Partial<Settings>): Promise<void> => {
    const next = { ...saved, ...part };
    await client.request('settings.set', { settings: next });
    store.getState().setWorkspace({ settings: next });
    setSaved(next);
    setDraft((before) => ({ ...before, ...part }));
  };
  const discard = (): void => {
    setDraft(saved);
    store.getState().setTheme(saved.appearance.theme);
  };
  const form: SettingsFormProps = { draft, problems, change };
  return (
    <>
      <AppearanceSection {...form} />
      <LanguageModelsSection {...form} />
      <PythonSection {...form} />
      <SpawnersSection {...form} />
      <ConnectionsSection connections={saved.connections} save={(connections) => persist({ connections })} />
      <TrustSection />
      <LimitsSection {...form} />
      {isChanged || saving.error ? (
        <section className="save-bar" aria-label="Unsaved changes">
          {saving.error ? <ErrorCallout title="The settings were not saved." error={saving.error} /> : null}
          <span className="grow">
            {parsed.success
              ? 'There are unsaved changes.'
              : 'A value does not fit; it is marked at its field.'}
          </span>
          <button type="button" className="button" onClick={discard}>
            Discard
          </button>
          <button
            type="button"
            className="button primary"
            disabled={!parsed.success || saving.isBusy}
            onClick={save}
          >
            Save changes
          </button>
        </section>
      ) : null}
    </>
  );
}
