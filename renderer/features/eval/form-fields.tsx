// What all parts of the form share: its state, and a field for a number with its unit.
import { Field } from '../../ui/field.tsx';
import type { Draft, NumberFieldName, Problems } from './draft.ts';

export interface FormProps {
  readonly draft: Draft;
  readonly problems: Problems;
  readonly change: (change: Partial<Draft>) => void;
}

export interface NumberFieldProps extends FormProps {
  readonly name: NumberFieldName;
  readonly label: string;
  readonly unit: string;
  readonly placeholder?: string;
  readonly hint?: string;
}

export function NumberField({
  name,
  label,
  unit,
  placeholder,
  hint,
  draft,
  problems,
  change,
}: NumberFieldProps) {
  return (
    <Field label={label} problem={problems[name]} hint={hint}>
      {(ids) => (
        <div className="row">
          <input
            {...ids}
            className="input number"
            inputMode="decimal"
            placeholder={placeholder}
            value={draft[name]}
            onChange={(event) => change({ [name]: event.target.value })}
          />
          <span className="faint small clip">{unit}</span>
        </div>
      )}
    </Field>
  );
}
