// Where processes of Python nodesets run: this machine, containers, a Ray cluster.
import { spawnerSettings, type SpawnerSettings } from '#contract/spawners.ts';
import { Field } from '../../ui/field.tsx';
import type { SettingsFormProps } from './settings-page.tsx';
import { SettingsSection } from './settings-section.tsx';

const places: readonly (readonly [SpawnerSettings['default'], string])[] = [
  ['auto', 'What the nodeset says; Docker where it names an image'],
  ['local', 'This machine'],
  ['docker', 'Docker, where it names an image'],
  ['ray', 'Ray'],
];

export function SpawnersSection({ draft, change }: SettingsFormProps) {
  const { spawners } = draft;
  const set = (part: Partial<SpawnerSettings>): void => change({ spawners: { ...spawners, ...part } });
  const setRay = (part: Partial<SpawnerSettings['ray']>): void => set({ ray: { ...spawners.ray, ...part } });
  return (
    <SettingsSection
      id="spawners"
      title="Where nodesets run"
      intro="For Python nodesets that do not say it themselves. A run may say otherwise (Spawner)."
    >
      <Field label="Place">
        {(ids) => (
          <select
            {...ids}
            className="select"
            value={spawners.default}
            onChange={(event) => set({ default: spawnerSettings.shape.default.parse(event.target.value) })}
          >
            {places.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField
        label="Docker program"
        placeholder="docker"
        value={spawners.docker.command}
        onChange={(command) => set({ docker: { command } })}
      />
      <TextField
        label="Ray address"
        hint="Of a cluster. Empty: a local Ray is started when it is needed, and ended."
        placeholder="ray-head:6379"
        value={spawners.ray.address}
        onChange={(address) => setRay({ address })}
      />
      <TextField
        label="Ray interpreter"
        hint="A Python with ray. Empty: the nodeset’s own."
        placeholder="python3"
        value={spawners.ray.python}
        onChange={(python) => setRay({ python })}
      />
    </SettingsSection>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function TextField({ label, hint, placeholder, value, onChange }: TextFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <input
          {...ids}
          className="input mono"
          placeholder={placeholder}
          spellCheck={false}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
