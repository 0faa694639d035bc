// Models by a short name, with their prices; one of them answers nodes that name none.
import { chatProfile, type ChatProfile, type ChatSettings } from '#contract/chat.ts';
import type { SettingsFormProps } from './settings-page.tsx';

export interface ChatFormProps {
  readonly chat: ChatSettings;
  readonly problems: SettingsFormProps['problems'];
  readonly change: (part: Partial<ChatSettings>) => void;
}

const prices = [
  { name: 'inputUsdPerMillion', label: 'Input $ per million tokens', head: '$ in / M' },
  { name: 'cachedInputUsdPerMillion', label: 'Cached input $ per million tokens', head: '$ cached / M' },
  { name: 'outputUsdPerMillion', label: 'Output $ per million tokens', head: '$ out / M' },
] as const;

export function ModelRows({ chat, problems, change }: ChatFormProps) {
  const { profiles, providers, defaultProfile } = chat;
  const replace = (place: number, part: Partial<ChatProfile>): void =>
    change({ profiles: profiles.map((before, at) => (at === place ? { ...before, ...part } : before)) });
  const problem = problems[Object.keys(problems).find((path) => path.startsWith('chat.profiles.')) ?? ''];
  return (
    <>
      <h3>Models</h3>
      {profiles.length > 0 ? (
        <table className="models">
          <thead>
            <tr>
              <th scope="col">Default</th>
              <th scope="col">Name</th>
              <th scope="col">Provider</th>
              <th scope="col">Model</th>
              {prices.map(({ name, head }) => (
                <th key={name} scope="col" className="number">
                  {head}
                </th>
              ))}
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {profiles.map((profile, place) => (
              <ModelRow
                key={place}
                profile={profile}
                providers={[...new Set([...providers.map(({ name }) => name), profile.provider])]}
                isDefault={(defaultProfile || profiles[0]?.name) === profile.name}
                onDefault={() => change({ defaultProfile: profile.name })}
                onChange={(part) => replace(place, part)}
                onRemove={() => change({ profiles: profiles.filter((_gone, at) => at !== place) })}
              />
            ))}
          </tbody>
        </table>
      ) : (
        <p className="muted">No model is named. A node or a run may still name one as provider/model.</p>
      )}
      {problem ? <div className="problem">{problem}</div> : null}
      <p className="hint">Without a price a cost is unknown, never zero.</p>
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={providers.length === 0}
          onClick={() => change({ profiles: [...profiles, newProfile(chat)] })}
        >
          Add model
        </button>
      </div>
    </>
  );
}

interface ModelRowProps {
  readonly profile: ChatProfile;
  readonly providers: readonly string[];
  readonly isDefault: boolean;
  readonly onDefault: () => void;
  readonly onChange: (part: Partial<ChatProfile>) => void;
  readonly onRemove: () => void;
}

function ModelRow({ profile, providers, isDefault, onDefault, onChange, onRemove }: ModelRowProps) {
  const text = (name: 'name' | 'model', label: string) => (
    <input
      className="input mono"
      aria-label={`${label} of ${profile.name}`}
      spellCheck={false}
      value={profile[name]}
      onChange={(event) => onChange({ [name]: event.target.value.trim() })}
    />
  );
  return (
    <tr>
      <td>
        <input
          type="radio"
          name="default-model"
          aria-label={`${profile.name} is the default`}
          checked={isDefault}
          onChange={onDefault}
        />
      </td>
      <td>{text('name', 'Name')}</td>
      <td>
        <select
          className="select"
          aria-label={`Provider of ${profile.name}`}
          value={profile.provider}
          onChange={(event) => onChange({ provider: event.target.value })}
        >
          {providers.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </td>
      <td>{text('model', 'Model')}</td>
      {prices.map(({ name, label }) => (
        <td key={name}>
          <input
            type="number"
            min={0}
            step="any"
            className="input number"
            aria-label={`${label}, ${profile.name}`}
            placeholder="?"
            value={profile[name] ?? ''}
            onChange={(event) =>
              onChange({ [name]: event.target.value === '' ? null : event.target.valueAsNumber })
            }
          />
        </td>
      ))}
      <td>
        <button
          type="button"
          className="button plain"
          aria-label={`Remove ${profile.name}`}
          onClick={onRemove}
        >
          Remove
        </button>
      </td>
    </tr>
  );
}

/** Its model is still to be typed: until then the settings cannot be saved. */
function newProfile({ profiles, providers }: ChatSettings): ChatProfile {
  const taken = new Set(profiles.map(({ name }) => name));
  const numbered = Array.from({ length: 1000 }, (_item, at) => `model-${at + 1}`);
  const name = numbered.find((free) => !taken.has(free)) ?? 'model';
  const filled = chatProfile.parse({ name, provider: providers[0]?.name ?? 'openai', model: '-' });
  return { ...filled, model: '' };
}
