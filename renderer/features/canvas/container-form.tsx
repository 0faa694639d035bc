// A state container: its states with type, lifetime and signals, and who may use it.
import { Plus, X } from 'lucide-react';
import { useId, useState } from 'react';
import type { GraphContainer, StateDefinition } from '#contract/graph.ts';
import {
  addState,
  changeContainer,
  hasGrant,
  removeState,
  renameState,
  setGrant,
  setState,
} from '../../canvas-model/container-commands.ts';
import { nodeName } from '../../canvas-model/levels.ts';
import { Check } from '../../ui/field.tsx';
import { useCanvas, useLevel } from './canvas-context.tsx';
import { typesWith } from './port-list-input.tsx';

const kinds: readonly StateDefinition['type'][] = ['lastWrite', 'accumulator', 'counter'];
const lifetimes: readonly StateDefinition['lifetime'][] = ['forever', 'step', 'episode', 'run', 'custom'];

export function ContainerForm({ container }: { readonly container: GraphContainer }) {
  const { editor } = useCanvas();
  const level = useLevel();
  const { id } = container;
  return (
    <div className="stack">
      <label className="stacked-field">
        <span className="label">Name</span>
        <input
          className="input"
          value={container.label}
          placeholder={id}
          onChange={(event) => {
            const label = event.target.value;
            editor.apply(
              'Rename',
              (before) => changeContainer(before, id, (one) => ({ ...one, label })),
              `label ${id}`,
            );
          }}
        />
      </label>
      <dl className="facts small">
        <dt>Id</dt>
        <dd>
          <code>{id}</code>
        </dd>
      </dl>
      <h3>States</h3>
      {Object.entries(container.states).map(([name, state]) => (
        <StateFields key={name} containerId={id} name={name} state={state} />
      ))}
      <button
        type="button"
        className="button"
        onClick={() => editor.apply('Add state', (before) => addState(before, id))}
      >
        <Plus size={13} aria-hidden="true" />
        Add state
      </button>
      <h3>Nodes that may use it</h3>
      {level.nodes
        .filter(({ type }) => type !== 'note')
        .map((node) => (
          <Check
            key={node.id}
            label={nodeName(node)}
            isChecked={hasGrant(level, id, node.id)}
            onChange={(isGranted) =>
              editor.apply('Change grants', (before) => setGrant(before, id, node.id, isGranted))
            }
          />
        ))}
    </div>
  );
}

interface StateFieldsProps {
  readonly containerId: string;
  readonly name: string;
  readonly state: StateDefinition;
}

function StateFields({ containerId, name, state }: StateFieldsProps) {
  const { editor } = useCanvas();
  const [typed, setTyped] = useState(name);
  const set = (change: Partial<StateDefinition>): void =>
    editor.apply(
      'Change state',
      (level) => setState(level, containerId, name, change),
      `${containerId} ${name}`,
    );
  const rename = (): void =>
    editor.apply('Rename state', (level) => renameState(level, containerId, name, typed.trim()));
  return (
    <fieldset className="port-list">
      <legend className="visually-hidden">State {name}</legend>
      <div className="row">
        <input
          className="input"
          aria-label="Name of the state"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={rename}
          onKeyDown={(event) => event.key === 'Enter' && rename()}
        />
        <button
          type="button"
          className="button plain icon"
          aria-label={`Remove state ${name}`}
          onClick={() => editor.apply('Remove state', (level) => removeState(level, containerId, name))}
        >
          <X size={13} aria-hidden="true" />
        </button>
      </div>
      <Choice label="Keeps" value={state.type} options={kinds} onChange={(type) => set({ type })} />
      <Choice
        label="Value"
        value={state.value_type}
        options={typesWith(state.value_type)}
        onChange={(value) => set({ value_type: value })}
      />
      <Choice
        label="Lasts"
        value={state.lifetime}
        options={lifetimes}
        onChange={(lifetime) => set({ lifetime })}
      />
      {state.lifetime === 'custom' ? (
        <label className="row">
          <span className="label narrow">Signals</span>
          <input
            className="input"
            value={state.reset_on.join(', ')}
            onChange={(event) =>
              set({
                reset_on: event.target.value
                  .split(',')
                  .map((word) => word.trim())
                  .filter(Boolean),
              })
            }
          />
        </label>
      ) : null}
    </fieldset>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Value[];
  readonly onChange: (value: Value) => void;
}

function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  const id = useId();
  return (
    <div className="row">
      <label className="label narrow" htmlFor={id}>
        {label}
      </label>
      <select
        id={id}
        className="select"
        value={value}
        onChange={(event) => {
          const chosen = options.find((option) => option === event.target.value);
          if (chosen !== undefined) onChange(chosen);
        }}
      >
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </div>
  );
}
