// What most runs leave alone: retries, when to give up, order of episodes, limits of batches.
import { Check, Field, Segments } from '../../ui/field.tsx';
import { NumberField, type FormProps } from './form-fields.tsx';

const outcomes = [
  { value: 'died', label: 'Its process died' },
  { value: 'timeout', label: 'It ran out of time' },
  { value: 'error', label: 'It ended with an error' },
] as const;

const affinities = [
  { value: 'none', label: 'Any worker' },
  { value: 'scene', label: 'Same scene, same worker' },
] as const;

const spawners = [
  { value: '', label: 'As set up' },
  { value: 'local', label: 'This machine' },
  { value: 'docker', label: 'Docker' },
  { value: 'ray', label: 'Ray' },
] as const;

export function AdvancedFields({ hasBatching, ...form }: FormProps & { readonly hasBatching: boolean }) {
  const { draft, change, problems } = form;
  const hasProblem = ['attempts', 'failOn', 'flushTimeoutMs', 'maxBatch', 'retryOn'].some(
    (name) => name in problems,
  );
  return (
    <details className="form-section" open={hasProblem || undefined}>
      <summary>Advanced</summary>
      <NumberField name="attempts" label="Attempts" unit="per episode at most" {...form} />
      <Field label="Try again when">
        {() => (
          <div className="row wrap">
            {outcomes.map(({ value, label }) => (
              <Check
                key={value}
                label={label}
                isChecked={draft.retryOn.includes(value)}
                onChange={(isChecked) =>
                  change({
                    retryOn: isChecked
                      ? [...draft.retryOn, value]
                      : draft.retryOn.filter((other) => other !== value),
                  })
                }
              />
            ))}
          </div>
        )}
      </Field>
      <NumberField
        name="failOn"
        label="Stop the run at"
        unit="errors, or a share below 1"
        placeholder="never"
        {...form}
      />
      <Field label="Node errors">
        {() => (
          <Check
            label="End an episode at its first node error"
            isChecked={draft.strictErrors}
            onChange={(strictErrors) => change({ strictErrors })}
          />
        )}
      </Field>
      <Field label="Affinity">
        {() => (
          <Segments
            label="Affinity"
            value={draft.affinity}
            options={affinities}
            onChange={(affinity) => change({ affinity })}
          />
        )}
      </Field>
      <Field label="Spawner" hint="Where environment processes run. TypeScript nodesets run on this machine.">
        {() => (
          <Segments
            label="Spawner"
            value={draft.spawner}
            options={spawners}
            onChange={(spawner) => change({ spawner })}
          />
        )}
      </Field>
      <NumberField
        name="envsPerProcess"
        label="Environments per process"
        unit="Python only; more is faster, but when one dies or hangs the others in it begin their episodes again"
        {...form}
      />
      {hasBatching ? (
        <>
          <NumberField name="flushTimeoutMs" label="Flush timeout" unit="ms, for rendezvous" {...form} />
          <NumberField
            name="maxBatch"
            label="Greatest batch"
            unit="samples"
            placeholder="no limit"
            {...form}
          />
        </>
      ) : null}
    </details>
  );
}
