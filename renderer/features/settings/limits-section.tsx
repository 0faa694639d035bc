// How long may be waited for what, and when a process is replaced or a run paused. Empty where a limit may be off.
import type { Settings } from '#contract/settings.ts';
import { settings as settingsSchema } from '#contract/settings.ts';
import { Field } from '../../ui/field.tsx';
import type { SettingsFormProps } from './settings-page.tsx';
import { SettingsSection } from './settings-section.tsx';

const deadlineFields: readonly {
  readonly name: keyof Settings['deadlines'];
  readonly label: string;
  readonly hint: string;
}[] = [
  {
    name: 'handshakeSec',
    label: 'Start to handshake',
    hint: 'A process that says nothing by then is replaced.',
  },
  { name: 'readySec', label: 'Handshake to ready', hint: 'Loading simulators and models may take long.' },
  { name: 'resetSec', label: 'Reset', hint: 'Choosing and starting an episode.' },
  { name: 'stepSec', label: 'Step', hint: 'One action in the environment.' },
  { name: 'callSec', label: 'Other calls', hint: 'One call of a node.' },
  { name: 'firstCallSec', label: 'A node’s first call', hint: 'Often loads a model.' },
  { name: 'batchSec', label: 'Batch', hint: 'One forward pass for all workers.' },
  { name: 'closeSec', label: 'Close', hint: 'Ending a process in good order.' },
];

const defaults = settingsSchema.parse({});

export function LimitsSection({ draft, problems, change }: SettingsFormProps) {
  const { deadlines, processLimits } = draft;
  const setLimit = (part: Partial<Settings['processLimits']>): void =>
    change({ processLimits: { ...processLimits, ...part } });
  return (
    <>
      <SettingsSection
        id="deadlines"
        title="Deadlines"
        intro="Nodesets may declare their own; these hold where they do not."
      >
        {deadlineFields.map(({ name, label, hint }) => (
          <LimitField
            key={name}
            label={label}
            hint={hint}
            unit="s"
            value={deadlines[name]}
            initial={defaults.deadlines[name]}
            problem={problems[`deadlines.${name}`]}
            onChange={(value) =>
              change({ deadlines: { ...deadlines, [name]: value ?? defaults.deadlines[name] } })
            }
          />
        ))}
        <LimitField
          label="Per-step budget"
          hint="Where neither the run nor the nodeset says one. Empty: 30 s."
          unit="s"
          value={draft.perStepBudgetSec}
          initial={null}
          problem={problems['perStepBudgetSec']}
          onChange={(perStepBudgetSec) => change({ perStepBudgetSec })}
        />
      </SettingsSection>
      <SettingsSection id="limits" title="Process limits">
        <LimitField
          label="Crash budget"
          hint="Deaths in a row without a finished episode, then the worker is down."
          unit="deaths"
          value={processLimits.crashBudget}
          initial={defaults.processLimits.crashBudget}
          problem={problems['processLimits.crashBudget']}
          onChange={(value) => setLimit({ crashBudget: value ?? defaults.processLimits.crashBudget })}
        />
        <LimitField
          label="Replace after"
          hint="A process is replaced between episodes after so many. Empty: never."
          unit="episodes"
          value={processLimits.recycleAfterEpisodes}
          initial={null}
          problem={problems['processLimits.recycleAfterEpisodes']}
          onChange={(value) => setLimit({ recycleAfterEpisodes: value })}
        />
        <LimitField
          label="Replace above"
          hint="A process is replaced between episodes above this memory. Empty: never."
          unit="MB"
          value={processLimits.recycleAboveMb}
          initial={null}
          problem={problems['processLimits.recycleAboveMb']}
          onChange={(value) => setLimit({ recycleAboveMb: value })}
        />
        <LimitField
          label="Pause below"
          hint="A run pauses, with nothing lost, when the disk has less free."
          unit="MB free"
          value={processLimits.pauseBelowFreeMb}
          initial={defaults.processLimits.pauseBelowFreeMb}
          problem={problems['processLimits.pauseBelowFreeMb']}
          onChange={(value) =>
            setLimit({ pauseBelowFreeMb: value ?? defaults.processLimits.pauseBelowFreeMb })
          }
        />
      </SettingsSection>
    </>
  );
}

interface LimitFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly unit: string;
  readonly value: number | null;
  readonly initial: number | null;
  readonly problem: string | undefined;
  readonly onChange: (value: number | null) => void;
}

function LimitField({ label, hint, unit, value, initial, problem, onChange }: LimitFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(ids) => (
        <div className="row">
          <input
            {...ids}
            type="number"
            className="input number"
            min={0}
            step="any"
            value={value ?? ''}
            placeholder={initial === null ? 'off' : String(initial)}
            onChange={(event) => onChange(event.target.value === '' ? null : event.target.valueAsNumber)}
          />
          <span className="faint small">{unit}</span>
          {value !== initial ? (
            <button
              type="button"
              className="button plain"
              aria-label={`Set ${label} back to its default`}
              onClick={() => onChange(initial)}
            >
              Default
            </button>
          ) : null}
        </div>
      )}
    </Field>
  );
}
