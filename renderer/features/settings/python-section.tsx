// The interpreter for Python nodesets that name none, and where else nodesets are found.
import { Field } from '../../ui/field.tsx';
import type { SettingsFormProps } from './settings-page.tsx';
import { SettingsSection } from './settings-section.tsx';

export function PythonSection({ draft, change }: SettingsFormProps) {
  return (
    <SettingsSection id="python" title="Python and nodesets">
      <Field label="Interpreter" hint="For Python nodesets that name none. Empty: python3 as found on PATH.">
        {(ids) => (
          <input
            {...ids}
            className="input mono"
            placeholder="python3"
            spellCheck={false}
            value={draft.python}
            onChange={(event) => change({ python: event.target.value })}
          />
        )}
      </Field>
      <Field label="Nodeset folders" hint="One folder a line, beside the workspace’s and the library’s own.">
        {(ids) => (
          <textarea
            {...ids}
            className="textarea mono"
            rows={3}
            spellCheck={false}
            value={draft.nodesetFolders.join('\n')}
            onChange={(event) =>
              change({ nodesetFolders: event.target.value === '' ? [] : event.target.value.split('\n') })
            }
          />
        )}
      </Field>
    </SettingsSection>
  );
}
