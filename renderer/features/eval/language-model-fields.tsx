// Of graphs that ask language models: which model answers, and whether replies are kept or taken from a run before.
import { useStudio } from '../../store/use-studio.tsx';
import { Field, Segments } from '../../ui/field.tsx';
import { useLoad } from '../../ui/use-request.ts';
import type { FormProps } from './form-fields.tsx';

const replies = [
  { value: 'live', label: 'Ask' },
  { value: 'record', label: 'Ask and keep' },
  { value: 'replay', label: 'From a run before' },
] as const;

export function LanguageModelFields({ draft, problems, change }: FormProps) {
  const { client } = useStudio();
  const stored = useLoad('settings', (signal) => client.request('settings.get', {}, signal));
  const models = stored.value?.settings.chat.profiles ?? [];
  const first = stored.value?.settings.chat.defaultProfile || models[0]?.name;
  return (
    <>
      <Field
        label="Language model"
        problem={problems.chatProfile}
        hint="For nodes that name none. A model of Settings, or provider/model."
      >
        {(ids) => (
          <>
            <input
              {...ids}
              className="input mono"
              list="language-models"
              spellCheck={false}
              placeholder={first ?? 'provider/model'}
              value={draft.chatProfile}
              onChange={(event) => change({ chatProfile: event.target.value })}
            />
            <datalist id="language-models">
              {models.map(({ name, provider, model }) => (
                <option key={name} value={name}>
                  {`${provider}/${model}`}
                </option>
              ))}
            </datalist>
          </>
        )}
      </Field>
      <Field label="Replies">
        {() => (
          <Segments
            label="Replies"
            value={draft.replies}
            options={replies}
            onChange={(value) => change({ replies: value })}
          />
        )}
      </Field>
      {draft.replies === 'replay' ? (
        <Field
          label="Replies from"
          problem={problems.repliesFrom}
          hint="Id of a run that kept its replies, or a folder."
        >
          {(ids) => (
            <input
              {...ids}
              className="input mono"
              spellCheck={false}
              value={draft.repliesFrom}
              onChange={(event) => change({ repliesFrom: event.target.value })}
            />
          )}
        </Field>
      ) : null}
    </>
  );
}
