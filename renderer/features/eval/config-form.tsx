// The form of a run: selectors as the environment declares them, episodes, workers and budgets; the rest folded away.
import type { Introspection } from '#contract/requests.ts';
import { formatCount } from '../../ui/format.ts';
import { Field, Segments } from '../../ui/field.tsx';
import { AdvancedFields } from './advanced-fields.tsx';
import { LanguageModelFields } from './language-model-fields.tsx';
import type { Draft } from './draft.ts';
import { NumberField, type FormProps } from './form-fields.tsx';
import { EpisodeFields } from './episode-fields.tsx';
import { selectorFields, stepBudgetOf, type Environment, type SelectorField } from './selectors.ts';

export interface ConfigFormProps extends FormProps {
  readonly introspection: Introspection;
  readonly environment: Environment | null;
}

export function ConfigForm({ introspection, environment, ...form }: ConfigFormProps) {
  const { draft, problems, change } = form;
  const budget = stepBudgetOf(introspection, environment);
  return (
    <form className="config-form" aria-label="Evaluation" onSubmit={(event) => event.preventDefault()}>
      <Section title="What">
        {introspection.environments.length > 1 ? (
          <Field label="Environment">
            {(ids) => (
              <select
                {...ids}
                className="select"
                value={environment?.nodeset ?? ''}
                onChange={(event) => change({ envNodeset: event.target.value, selectors: {} })}
              >
                {introspection.environments.map((candidate) => (
                  <option key={candidate.nodeset}>{candidate.nodeset}</option>
                ))}
              </select>
            )}
          </Field>
        ) : null}
        {(environment ? selectorFields(environment) : []).map((field) => (
          <Selector key={field.name} field={field} {...form} />
        ))}
        <EpisodeFields environment={environment} {...form} />
        <NumberField name="repeats" label="Repeats" unit="runs of every episode" {...form} />
        <NumberField name="seed" label="Run seed" unit="policy seeds derive from it" {...form} />
      </Section>
      <Section title="How">
        <Field label="Workers" problem={problems.workerCount} hint={workerHint(introspection, draft)}>
          {(ids) => (
            <div className="row">
              <input
                {...ids}
                className="input number"
                inputMode="numeric"
                placeholder={String(introspection.suggestedWorkers)}
                value={draft.workerCount}
                onChange={(event) => change({ workerCount: event.target.value })}
              />
              {draft.workerCount !== '' && draft.workerCount !== String(introspection.suggestedWorkers) ? (
                <button type="button" className="button" onClick={() => change({ workerCount: '' })}>
                  Use the suggested {introspection.suggestedWorkers}
                </button>
              ) : null}
            </div>
          )}
        </Field>
        <NumberField
          name="stepBudget"
          label="Step budget"
          unit="steps per episode"
          placeholder={budget === null ? '1000' : String(budget)}
          {...form}
        />
        <NumberField
          name="perStepBudgetSec"
          label="Per-step budget"
          unit="s; an episode ends after steps × this"
          placeholder={String(environment?.perStepBudgetSec ?? 30)}
          {...form}
        />
        <Recording {...form} />
        {introspection.batchedNodes.length > 0 ? (
          <Batching {...form} nodes={introspection.batchedNodes} />
        ) : null}
      </Section>
      <Section title="Tags and note">
        <Field label="Tags" hint="Divided by commas">
          {(ids) => (
            <input
              {...ids}
              className="input"
              value={draft.tags}
              onChange={(event) => change({ tags: event.target.value })}
            />
          )}
        </Field>
        <Field label="Note">
          {(ids) => (
            <textarea
              {...ids}
              className="textarea"
              rows={2}
              value={draft.note}
              onChange={(event) => change({ note: event.target.value })}
            />
          )}
        </Field>
      </Section>
      {introspection.asksLanguageModels ? <LanguageModelFields {...form} /> : null}
      <AdvancedFields hasBatching={introspection.batchedNodes.length > 0} {...form} />
    </form>
  );
}

export function Section({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <fieldset className="form-section">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

function workerHint(introspection: Introspection, draft: Draft): string {
  const suggested = introspection.suggestedWorkers;
  const now =
    draft.workerCount === ''
      ? `${formatCount(suggested)} is suggested`
      : `Suggested: ${formatCount(suggested)}`;
  return `${now}, from the machine’s cores and memory. Results do not depend on it.`;
}

function Selector({ field, draft, change }: FormProps & { readonly field: SelectorField }) {
  const value = draft.selectors[field.name] ?? field.current;
  const set = (next: string): void => change({ selectors: { ...draft.selectors, [field.name]: next } });
  const isKnown = value === '' || field.options.some((option) => option.value === value);
  return (
    <Field label={field.label}>
      {(ids) =>
        field.options.length > 0 ? (
          <select {...ids} className="select" value={value} onChange={(event) => set(event.target.value)}>
            {value === '' ? <option value="">As the environment has it</option> : null}
            {isKnown ? null : <option value={value}>{value} (not offered now)</option>}
            {field.options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
        ) : (
          <input {...ids} className="input" value={value} onChange={(event) => set(event.target.value)} />
        )
      }
    </Field>
  );
}

const recordingModes = [
  { value: 'failures', label: 'Failures' },
  { value: 'none', label: 'None' },
  { value: 'sample', label: 'Sample' },
  { value: 'all', label: 'All' },
] as const;

function Recording({ draft, problems, change }: FormProps) {
  return (
    <Field
      label="Recording"
      problem={problems.recordingCount}
      hint="Which episodes keep frames and the log of every firing"
    >
      {(ids) => (
        <div className="row">
          <Segments
            label="Recording"
            value={draft.recording}
            options={recordingModes}
            onChange={(recording) => change({ recording })}
          />
          {draft.recording === 'sample' ? (
            <input
              {...ids}
              aria-label="Episodes to record"
              className="input number"
              inputMode="numeric"
              value={draft.recordingCount}
              onChange={(event) => change({ recordingCount: event.target.value })}
            />
          ) : null}
        </div>
      )}
    </Field>
  );
}

const policies = [
  { value: 'greedy', label: 'Greedy' },
  { value: 'rendezvous', label: 'Rendezvous' },
] as const;

function Batching({ draft, change, nodes }: FormProps & { readonly nodes: readonly string[] }) {
  const says =
    draft.flushPolicy === 'greedy'
      ? 'A batch leaves as soon as the model is idle.'
      : 'A batch waits for every live worker, at most the flush timeout.';
  return (
    <Field label="Batching" hint={`${says} For ${nodes.join(', ')}.`}>
      {() => (
        <Segments
          label="Batching"
          value={draft.flushPolicy}
          options={policies}
          onChange={(flushPolicy) => change({ flushPolicy })}
        />
      )}
    </Field>
  );
}
