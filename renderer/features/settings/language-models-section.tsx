// Providers of language models with their keys, and models with their prices. Settings are saved with the others; a key
// goes to the engine at once, is kept where the section says, and is never shown again.
import { Plus } from 'lucide-react';
import {
  chatProvider,
  knownProviders,
  type ChatProvider,
  type ChatSettings,
  type ChatStatus,
} from '#contract/chat.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ActionMenu } from '../../ui/action-menu.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Field } from '../../ui/field.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { ModelRows, type ChatFormProps } from './model-rows.tsx';
import { ProviderForm } from './provider-form.tsx';
import type { SettingsFormProps } from './settings-page.tsx';
import { SettingsSection } from './settings-section.tsx';

export function LanguageModelsSection({ draft, problems, change }: SettingsFormProps) {
  const { client } = useStudio();
  const status = useLoad('chat', (signal) => client.request('chat.status', {}, signal));
  const { chat } = draft;
  const changeChat = (part: Partial<ChatSettings>): void => change({ chat: { ...chat, ...part } });
  const form: ChatFormProps = { chat, problems, change: changeChat };
  return (
    <SettingsSection
      id="language-models"
      title="Language models"
      intro="Any endpoint that speaks OpenAI's chat completions (vLLM, Ollama, LM Studio, OpenRouter), and OpenAI, Anthropic and Google themselves."
    >
      {status.error ? (
        <ErrorCallout title="The state of the keys could not be read." error={status.error} />
      ) : null}
      <p className="muted small">{status.value?.keyStore.says ?? ' '}</p>
      <Providers {...form} status={status.value} reload={status.reload} />
      <ModelRows {...form} />
      <CallLimits {...form} />
    </SettingsSection>
  );
}

function Providers({
  chat,
  problems,
  change,
  status,
  reload,
}: ChatFormProps & { readonly status: ChatStatus | null; readonly reload: () => void }) {
  const { providers } = chat;
  const replace = (place: number, provider: ChatProvider): void =>
    change({ providers: providers.map((before, at) => (at === place ? provider : before)) });
  return (
    <>
      <ul className="lines providers" aria-label="Providers">
        {providers.map((provider, place) => (
          <li key={place}>
            <ProviderForm
              provider={provider}
              problem={(name) => problems[`chat.providers.${place}.${name}`]}
              keyState={status?.providers.find(({ name }) => name === provider.name)}
              testModel={chat.profiles.find((profile) => profile.provider === provider.name)?.model ?? ''}
              onChange={(next) => replace(place, next)}
              onRemove={() => change({ providers: providers.filter((_gone, at) => at !== place) })}
              onKeyChanged={reload}
            />
          </li>
        ))}
        {providers.length === 0 ? <li className="muted">No provider is set up.</li> : null}
      </ul>
      <div className="row">
        <ActionMenu
          label="Add provider"
          trigger={
            <>
              <Plus size={14} aria-hidden="true" /> Add provider
            </>
          }
          groups={[
            newProviders(providers).map((provider) => ({
              label: provider.baseUrl === '' ? provider.name : `${provider.name}: ${provider.baseUrl}`,
              run: () => change({ providers: [...providers, provider] }),
            })),
          ]}
        />
      </div>
    </>
  );
}

/** The known ones that are not there yet, and an endpoint of one's own. */
function newProviders(providers: readonly ChatProvider[]): ChatProvider[] {
  const taken = new Set(providers.map(({ name }) => name));
  const own = ['endpoint', ...Array.from({ length: 100 }, (_item, at) => `endpoint-${at + 2}`)];
  const free = own.find((name) => !taken.has(name)) ?? 'endpoint';
  return [
    chatProvider.parse({ name: free, baseUrl: 'http://127.0.0.1:8000/v1' }),
    ...knownProviders.filter(({ name }) => !taken.has(name)),
  ];
}

const limits = [
  {
    name: 'trySec',
    label: 'One try',
    unit: 's',
    hint: 'From the request to the last byte; then it is tried again.',
  },
  { name: 'callSec', label: 'One call', unit: 's', hint: 'All tries and the waits the endpoint asks for.' },
  {
    name: 'retries',
    label: 'Tried again',
    unit: 'times at most',
    hint: 'After 429, 5xx and lost connections.',
  },
] as const;

function CallLimits({ chat, problems, change }: ChatFormProps) {
  return limits.map(({ name, label, unit, hint }) => (
    <Field key={name} label={label} hint={hint} problem={problems[`chat.${name}`]}>
      {(ids) => (
        <div className="row">
          <input
            {...ids}
            type="number"
            className="input number"
            min={0}
            value={Number.isNaN(chat[name]) ? '' : chat[name]}
            onChange={(event) => change({ [name]: event.target.valueAsNumber })}
          />
          <span className="faint small">{unit}</span>
        </div>
      )}
    </Field>
  ));
}
