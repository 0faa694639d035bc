// Light, dark or as the system has it; and notices outside the window where the browser shows them.
import { useState } from 'react';
import { useStudioState } from '../../store/use-studio.tsx';
import { Field, Segments } from '../../ui/field.tsx';
import type { SettingsFormProps } from './settings-page.tsx';
import { SettingsSection } from './settings-section.tsx';

const themes = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

export function AppearanceSection({ draft, change }: SettingsFormProps) {
  const hostShowsNotices = useStudioState((state) => state.info?.capabilities.includes('notices') ?? false);
  return (
    <SettingsSection id="appearance" title="Appearance">
      <Field label="Theme">
        {() => (
          <Segments
            label="Theme"
            value={draft.appearance.theme}
            options={themes}
            onChange={(theme) => change({ appearance: { theme } })}
          />
        )}
      </Field>
      {hostShowsNotices || typeof Notification === 'undefined' ? null : <BrowserNotices />}
    </SettingsSection>
  );
}

function BrowserNotices() {
  const [permission, setPermission] = useState(Notification.permission);
  const ask = async (): Promise<void> => setPermission(await Notification.requestPermission());
  const says = {
    granted: 'The browser shows a notice when a run ends and this window is not in front.',
    denied: 'The browser does not allow notices from this page.',
    default: 'The browser can show a notice when a run ends and this window is not in front.',
  }[permission];
  return (
    <Field label="Notices" hint={says}>
      {(ids) =>
        permission === 'default' ? (
          <button
            {...ids}
            aria-invalid={undefined}
            type="button"
            className="button"
            onClick={() => void ask()}
          >
            Allow notices
          </button>
        ) : (
          <span className="line">{permission === 'granted' ? 'Allowed' : 'Not allowed'}</span>
        )
      }
    </Field>
  );
}
