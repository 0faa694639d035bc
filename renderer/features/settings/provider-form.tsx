// One provider: where it is, its key, and whether it answers.
import { useState } from 'react';
import { chatKinds, type ChatProvider, type ChatStatus, type KeySource } from '#contract/chat.ts';
import type { RequestOutput } from '#contract/api.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Check, Field } from '../../ui/field.tsx';
import { useAction } from '../../ui/use-request.ts';

export interface ProviderFormProps {
  readonly provider: ChatProvider;
  readonly problem: (name: keyof ChatProvider) => string | undefined;
  readonly keyState: ChatStatus['providers'][number] | undefined;
  /** What a test asks for, until something else is typed. */
  readonly testModel: string;
  readonly onChange: (provider: ChatProvider) => void;
  readonly onRemove: () => void;
  readonly onKeyChanged: () => void;
}

const kindWords: Readonly<Record<ChatProvider['kind'], string>> = {
  'openai-compatible': 'OpenAI-compatible endpoint',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
};

export function ProviderForm(props: ProviderFormProps) {
  const { provider, problem, onChange, onRemove } = props;
  const set = (part: Partial<ChatProvider>): void => onChange({ ...provider, ...part });
  const text = (
    name: 'name' | 'baseUrl' | 'keyEnv',
    label: string,
    more: { hint?: string; placeholder?: string },
  ) => (
    <Field label={label} hint={more.hint} problem={problem(name)}>
      {(ids) => (
        <input
          {...ids}
          className="input mono"
          spellCheck={false}
          placeholder={more.placeholder}
          value={provider[name]}
          onChange={(event) => set({ [name]: event.target.value.trim() })}
        />
      )}
    </Field>
  );
  return (
    <fieldset className="provider" aria-label={`Provider ${provider.name}`}>
      {text('name', 'Name', {})}
      <Field label="Speaks">
        {(ids) => (
          <select
            {...ids}
            className="select"
            value={provider.kind}
            onChange={(event) =>
              set({ kind: chatKinds.find((kind) => kind === event.target.value) ?? provider.kind })
            }
          >
            {chatKinds.map((kind) => (
              <option key={kind} value={kind}>
                {kindWords[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {text('baseUrl', 'Address', {
        placeholder: provider.kind === 'openai-compatible' ? 'http://127.0.0.1:8000/v1' : 'its own',
        hint: 'With the version part, as in /v1.',
      })}
      <KeyField {...props} />
      {text('keyEnv', 'Key variable', {
        hint: 'Environment variable that is looked at where no key is set here.',
      })}
      <Field label="Calls at once" hint="Per key, over all workers." problem={problem('concurrency')}>
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={1}
            className="input number"
            value={Number.isNaN(provider.concurrency) ? '' : provider.concurrency}
            onChange={(event) => set({ concurrency: event.target.valueAsNumber })}
          />
        )}
      </Field>
      <Field label="Endpoint">
        {() => (
          <div className="row wrap">
            <Check
              label="Needs a key"
              isChecked={provider.needsKey}
              onChange={(needsKey) => set({ needsKey })}
            />
            <Check label="Streams" isChecked={provider.streams} onChange={(streams) => set({ streams })} />
            <Check
              label="Takes a seed"
              isChecked={provider.sendsSeed}
              onChange={(sendsSeed) => set({ sendsSeed })}
            />
          </div>
        )}
      </Field>
      <TestField {...props} />
      <div className="row">
        <button
          type="button"
          className="button"
          aria-label={`Remove provider ${provider.name}`}
          onClick={onRemove}
        >
          Remove provider
        </button>
      </div>
    </fieldset>
  );
}

function keyWords(source: KeySource | undefined, variable: string): string {
  switch (source) {
    case 'system':
      return 'Set, in the key store.';
    case 'file':
      return 'Set, in the file.';
    case 'environment':
      return `From ${variable}.`;
    case 'unneeded':
      return 'None, and none is needed.';
    case 'locked':
      return 'Kept, but only the desktop app can read it.';
    case 'none':
      return 'Missing.';
    case undefined:
      return 'Save the provider to see its key.';
  }
}

function KeyField({ provider, keyState, onKeyChanged }: ProviderFormProps) {
  const { client } = useStudio();
  const [typed, setTyped] = useState('');
  const action = useAction();
  const isKept = keyState?.key === 'system' || keyState?.key === 'file' || keyState?.key === 'locked';
  const set = (): void =>
    action.run(async () => {
      await client.request('chat.setKey', { provider: provider.name, key: typed });
      setTyped('');
      onKeyChanged();
    });
  const clear = (): void =>
    action.run(async () => {
      await client.request('chat.clearKey', { provider: provider.name });
      onKeyChanged();
    });
  return (
    <Field
      label="Key"
      hint={keyWords(keyState?.key, keyState?.variable ?? '')}
      problem={action.error?.message}
    >
      {(ids) => (
        <div className="row">
          <input
            {...ids}
            type="password"
            className="input mono grow"
            autoComplete="off"
            placeholder={isKept ? 'another key' : ''}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <button
            type="button"
            className="button"
            disabled={typed.trim() === '' || action.isBusy}
            onClick={set}
          >
            Set key
          </button>
          {isKept ? (
            <button type="button" className="button" disabled={action.isBusy} onClick={clear}>
              Forget key
            </button>
          ) : null}
        </div>
      )}
    </Field>
  );
}

function TestField({ provider, testModel }: ProviderFormProps) {
  const { client } = useStudio();
  const [typed, setTyped] = useState<string | null>(null);
  const [result, setResult] = useState<RequestOutput<'chat.test'> | null>(null);
  const action = useAction();
  const model = (typed ?? testModel).trim();
  const test = (): void => {
    setResult(null);
    action.run(async () => setResult(await client.request('chat.test', { provider, model })));
  };
  return (
    <>
      <Field label="Test" hint="Asks this model for one word.">
        {(ids) => (
          <div className="row">
            <input
              {...ids}
              className="input mono grow"
              spellCheck={false}
              placeholder="name of a model"
              value={typed ?? testModel}
              onChange={(event) => setTyped(event.target.value)}
            />
            <button type="button" className="button" disabled={model === '' || action.isBusy} onClick={test}>
              {action.isBusy ? 'Testing' : 'Test'}
            </button>
          </div>
        )}
      </Field>
      {action.error ? <ErrorCallout title="The test could not be made." error={action.error} /> : null}
      <output
        className={result && !result.ok ? 'problem words' : 'small words'}
        aria-label="Result of the test"
      >
        {result
          ? `${result.message}${result.ok ? ` (${result.model}, ${Math.round(result.durationMs)} ms)` : ''}`
          : ''}
      </output>
    </>
  );
}
