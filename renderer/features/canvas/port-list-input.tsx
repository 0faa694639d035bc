// A list of ports as pivots, chat nodes and image viewers declare them: name, type, what holds across iterations.
import { Plus, X } from 'lucide-react';
import { isRecord } from '#contract/pivots.ts';
import { wireTypes } from '#contract/graph.ts';
import { deprecatedWireTypes } from '#contract/wire-types.ts';
import { freshId } from '../../canvas-model/levels.ts';

export interface PortListInputProps {
  readonly label: string;
  readonly value: unknown;
  readonly onChange: (ports: readonly unknown[]) => void;
}

type Entry = Readonly<Record<string, unknown>>;

export function PortListInput({ label, value, onChange }: PortListInputProps) {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  const entries = list.map((entry): Entry => (isRecord(entry) ? entry : { name: String(entry) }));
  const replace = (index: number, change: Entry): void =>
    onChange(entries.map((entry, at) => (at === index ? { ...entry, ...change } : entry)));
  const add = (): void => {
    const name = freshId(new Set(entries.map((entry) => String(entry['name']))), 'port');
    onChange([...entries, { name, wire_type: 'ANY' }]);
  };
  return (
    <fieldset className="port-list">
      <legend className="label">{label}</legend>
      {entries.map((entry, index) => (
        // Ports have no identity besides their place.
        // oxlint-disable-next-line react/no-array-index-key
        <div className="row" key={index}>
          <input
            className="input"
            aria-label={`Name of port ${index + 1}`}
            value={typeof entry['name'] === 'string' ? entry['name'] : ''}
            onChange={(event) => replace(index, { name: event.target.value })}
          />
          <select
            className="select"
            aria-label={`Type of port ${index + 1}`}
            value={typeof entry['wire_type'] === 'string' ? entry['wire_type'] : 'ANY'}
            onChange={(event) => replace(index, { wire_type: event.target.value })}
          >
            {typesWith(entry['wire_type']).map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
          <button
            type="button"
            className="button plain icon"
            aria-label={`Remove port ${String(entry['name'])}`}
            onClick={() => onChange(entries.filter((_entry, at) => at !== index))}
          >
            <X size={13} aria-hidden="true" />
          </button>
        </div>
      ))}
      <button type="button" className="button" onClick={add}>
        <Plus size={13} aria-hidden="true" />
        Add port
      </button>
    </fieldset>
  );
}

/** Types to choose from, and the one the file names even when it is old. */
export function typesWith(current: unknown): string[] {
  const known = wireTypes.filter((type) => deprecatedWireTypes[type] === undefined);
  const all: string[] = [...known];
  return typeof current === 'string' && current !== '' && !all.includes(current) ? [...all, current] : all;
}
