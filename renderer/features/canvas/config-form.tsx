// The fields of a node's config, drawn from what its type declares.
import { RotateCcw } from 'lucide-react';
import { useId } from 'react';
import type { GraphNode } from '#contract/graph.ts';
import type { NodeManifest } from '#contract/nodeset.ts';
import { fieldsOf, type ShownField } from '../../canvas-model/config-fields.ts';
import { setConfig, setPortList } from '../../canvas-model/node-commands.ts';
import { useCanvas, useLevel } from './canvas-context.tsx';
import { ConfigInput } from './config-input.tsx';
import { PortListInput } from './port-list-input.tsx';

export interface ConfigFormProps {
  readonly node: GraphNode;
  readonly manifest: NodeManifest | undefined;
}

export function ConfigForm({ node, manifest }: ConfigFormProps) {
  const fields = fieldsOf(node, manifest).filter(({ name }) => name !== 'pairedWith');
  const isPivot = node.type === 'iterIn' || node.type === 'iterOut';
  if (fields.length === 0 && !isPivot) return null;
  return (
    <section className="stack" aria-label="Configuration">
      <h3>Configuration</h3>
      {isPivot ? <PairField node={node} /> : null}
      {fields.map((field) => (
        <FieldRow key={field.name} nodeId={node.id} field={field} />
      ))}
    </section>
  );
}

function FieldRow({ nodeId, field }: { readonly nodeId: string; readonly field: ShownField }) {
  const { editor } = useCanvas();
  const id = useId();
  const set = (value: unknown): void =>
    editor.apply(
      `Set ${field.label}`,
      (level) => setConfig(level, nodeId, field.name, value),
      `${nodeId} ${field.name}`,
    );
  if (field.kind === 'label') return <p className="small muted">{field.label}</p>;
  if (field.kind === 'port_list')
    return (
      <PortListInput
        label={field.label}
        value={field.value}
        onChange={(ports) =>
          editor.apply(
            'Change ports',
            (level) => setPortList(level, nodeId, field.name, ports),
            `${nodeId} ${field.name}`,
          )
        }
      />
    );
  return (
    <div className="stacked-field">
      <div className="row spread">
        <label className="label" htmlFor={id}>
          {field.label}
        </label>
        {field.isSet && field.fallback !== undefined ? (
          <button
            type="button"
            className="button plain icon small-icon"
            aria-label={`Set ${field.label} back to its default`}
            title={`Default: ${String(JSON.stringify(field.fallback))}`}
            onClick={() => set(undefined)}
          >
            <RotateCcw size={12} aria-hidden="true" />
          </button>
        ) : null}
      </div>
      <ConfigInput id={id} field={field} onChange={set} />
      {field.description ? <div className="hint small faint">{field.description}</div> : null}
    </div>
  );
}

/** Which loop end belongs to a loop start, and the other way round. */
function PairField({ node }: { readonly node: GraphNode }) {
  const { editor } = useCanvas();
  const level = useLevel();
  const id = useId();
  const wanted = node.type === 'iterIn' ? 'iterOut' : 'iterIn';
  const pair = node.config['pairedWith'];
  const value = typeof pair === 'string' ? pair : '';
  const choices = level.nodes.filter(({ type }) => type === wanted);
  return (
    <div className="stacked-field">
      <label className="label" htmlFor={id}>
        Paired with
      </label>
      <select
        id={id}
        className="select"
        value={value}
        onChange={(event) => {
          const other = event.target.value;
          editor.apply('Pair', (before) =>
            setConfig(
              other === '' ? before : setConfig(before, other, 'pairedWith', node.id),
              node.id,
              'pairedWith',
              other === '' ? undefined : other,
            ),
          );
        }}
      >
        <option value="">Nothing</option>
        {choices.map((choice) => (
          <option key={choice.id} value={choice.id}>
            {choice.label || choice.id}
          </option>
        ))}
        {value !== '' && !choices.some((choice) => choice.id === value) ? (
          <option value={value}>{value} (gone)</option>
        ) : null}
      </select>
    </div>
  );
}
