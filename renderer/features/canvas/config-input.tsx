// One control per kind of field. Numbers and JSON keep what was typed while it is not yet valid, and say so.
import { useState } from 'react';
import type { ShownField } from '../../canvas-model/config-fields.ts';

export interface ConfigInputProps {
  readonly id: string;
  readonly field: ShownField;
  /** undefined: back to the default. */
  readonly onChange: (value: unknown) => void;
}

export function ConfigInput({ id, field, onChange }: ConfigInputProps) {
  const { kind, value, label, options } = field;
  switch (kind) {
    case 'toggle':
      return (
        <label className="check">
          <input
            id={id}
            type="checkbox"
            checked={value === true}
            onChange={(event) => onChange(event.target.checked)}
          />
          {value === true ? 'On' : 'Off'}
        </label>
      );
    case 'select':
      return <SelectInput id={id} field={field} onChange={onChange} />;
    case 'slider':
    case 'number':
      return <NumberInput id={id} field={field} onChange={onChange} />;
    case 'textarea':
      return (
        <textarea
          id={id}
          className="textarea"
          rows={4}
          value={textOf(value)}
          onChange={(event) => onChange(event.target.value)}
        />
      );
    case 'json':
      return <JsonInput id={id} field={field} onChange={onChange} />;
    case 'text':
      return (
        <input
          id={id}
          className="input"
          value={textOf(value)}
          onChange={(event) => onChange(typedLike(value, event.target.value))}
        />
      );
    case 'label':
    case 'port_list':
      return <span className="faint">{options.length > 0 ? label : ''}</span>;
  }
}

function SelectInput({ id, field, onChange }: ConfigInputProps) {
  const { options, value } = field;
  const at = options.findIndex((option) => option.value === value || String(option.value) === textOf(value));
  if (options.length === 0)
    return (
      <input
        id={id}
        className="input"
        value={textOf(value)}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  return (
    <select
      id={id}
      className="select"
      value={String(at)}
      onChange={(event) => onChange(options[Number(event.target.value)]?.value)}
    >
      {at < 0 ? <option value="-1">{textOf(value) || 'Not set'}</option> : null}
      {options.map((option, index) => (
        <option key={String(option.value)} value={String(index)}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

function NumberInput({ id, field, onChange }: ConfigInputProps) {
  const { value, min, max, step, kind } = field;
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? textOf(value);
  const problem = typed === null ? undefined : numberProblem(typed, field);
  const change = (text: string): void => {
    setTyped(text);
    if (text.trim() === '') onChange(undefined);
    else if (numberProblem(text, field) === undefined)
      onChange(typeof value === 'string' ? text : Number(text));
  };
  return (
    <>
      <div className="row">
        <input
          id={id}
          className="input number"
          inputMode="decimal"
          aria-invalid={problem !== undefined}
          value={shown}
          onChange={(event) => change(event.target.value)}
          onBlur={() => setTyped(null)}
        />
        {kind === 'slider' && min !== undefined && max !== undefined ? (
          <input
            type="range"
            className="grow"
            aria-label={`${field.label}, slider`}
            min={min}
            max={max}
            step={step ?? (max - min) / 100}
            value={Number(value ?? min)}
            onChange={(event) => {
              setTyped(null);
              onChange(typeof value === 'string' ? event.target.value : Number(event.target.value));
            }}
          />
        ) : null}
      </div>
      {problem ? <div className="problem small">{problem}</div> : null}
    </>
  );
}

function numberProblem(text: string, { min, max }: ShownField): string | undefined {
  const number = Number(text);
  if (text.trim() !== '' && !Number.isFinite(number)) return 'A number, such as 0.5.';
  if (min !== undefined && number < min) return `At least ${min}.`;
  return max !== undefined && number > max ? `At most ${max}.` : undefined;
}

function JsonInput({ id, field, onChange }: ConfigInputProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (field.value === undefined ? '' : JSON.stringify(field.value, null, 2));
  const parsed = typed === null ? null : parseJson(typed);
  return (
    <>
      <textarea
        id={id}
        className="textarea mono"
        rows={Math.min(10, shown.split('\n').length + 1)}
        spellCheck={false}
        aria-invalid={parsed?.ok === false}
        value={shown}
        onChange={(event) => {
          const text = event.target.value;
          setTyped(text);
          const next = parseJson(text);
          if (text.trim() === '') onChange(undefined);
          else if (next.ok) onChange(next.value);
        }}
        onBlur={() => setTyped(null)}
      />
      {parsed?.ok === false ? (
        <div className="problem small">Not JSON yet; the last valid value holds.</div>
      ) : null}
    </>
  );
}

function parseJson(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : String(JSON.stringify(value));
}

/** A number in a text field stays a number while it reads as one. */
function typedLike(before: unknown, text: string): unknown {
  if (typeof before !== 'number' || text.trim() === '') return text;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}
