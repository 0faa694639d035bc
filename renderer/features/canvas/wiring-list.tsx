// The wires of a node as a list: reads them, takes them away, and draws new ones without a mouse.
import { X } from 'lucide-react';
import { useMemo } from 'react';
import type { GraphDefinition, GraphNode } from '#contract/graph.ts';
import { hasGrant, setGrant } from '../../canvas-model/container-commands.ts';
import { handlesOf, refusalOf, type Handles } from '../../canvas-model/handles.ts';
import { nodeName, sourceHandleOf, targetHandleOf } from '../../canvas-model/levels.ts';
import { connect, newPortHandle, portListOf, removeItems } from '../../canvas-model/node-commands.ts';
import { Check } from '../../ui/field.tsx';
import { useCanvas, useLevel } from './canvas-context.tsx';

export function WiringList({ node }: { readonly node: GraphNode }) {
  const { types } = useCanvas();
  const level = useLevel();
  const handles = useMemo(() => handlesOf(level, { manifestOf: (type) => types.get(type) }), [level, types]);
  const own = handles.get(node.id);
  if (!own || (own.inputs.length === 0 && portListOf(node.type) === undefined)) return null;
  const inputs = own.inputs.map(({ name }) => name);
  if (portListOf(node.type) !== undefined) inputs.push(newPortHandle);
  return (
    <section className="stack" aria-label="Inputs">
      <h3>Inputs</h3>
      {inputs.map((input) => (
        <InputRow key={input} level={level} handles={handles} node={node} input={input} />
      ))}
    </section>
  );
}

interface InputRowProps {
  readonly level: GraphDefinition;
  readonly handles: ReadonlyMap<string, Handles>;
  readonly node: GraphNode;
  readonly input: string;
}

function InputRow({ level, handles, node, input }: InputRowProps) {
  const { editor, types } = useCanvas();
  const wires = level.edges.filter((edge) => edge.target === node.id && targetHandleOf(edge) === input);
  const isNew = input === newPortHandle;
  const label = isNew ? 'New port' : input;
  const choices = useMemo(() => sourcesFor(level, handles, node, input), [level, handles, node, input]);
  const name = (id: string): string =>
    nodeName(level.nodes.find((one) => one.id === id) ?? { id, label: '' });
  return (
    <div className="stacked-field">
      <span className="label">{label}</span>
      {wires.map((wire) => (
        <div className="row" key={wire.id}>
          <span className="clip grow">
            {name(wire.source)} · {sourceHandleOf(wire)}
          </span>
          <button
            type="button"
            className="button plain icon"
            aria-label={`Remove the wire from ${name(wire.source)} to ${label}`}
            onClick={() =>
              editor.apply('Remove wire', (before) => removeItems(before, new Set(), new Set([wire.id])))
            }
          >
            <X size={13} aria-hidden="true" />
          </button>
        </div>
      ))}
      <select
        className="select"
        aria-label={`Wire to ${label} from`}
        value=""
        onChange={(event) => {
          const choice = choices[Number(event.target.value)];
          if (!choice) return;
          editor.apply('Connect', (before) =>
            connect(
              before,
              { source: choice.source, sourceHandle: choice.handle, target: node.id, targetHandle: input },
              { manifestOf: (type) => types.get(type), sourceType: choice.wireType },
            ),
          );
        }}
      >
        <option value="">{choices.length > 0 ? 'Wire from…' : 'Nothing fits'}</option>
        {choices.map((choice, index) => (
          <option key={`${choice.source} ${choice.handle}`} value={String(index)}>
            {choice.label}
          </option>
        ))}
      </select>
    </div>
  );
}

interface SourceChoice {
  readonly source: string;
  readonly handle: string;
  readonly wireType: string;
  readonly label: string;
}

function sourcesFor(
  level: GraphDefinition,
  handles: ReadonlyMap<string, Handles>,
  node: GraphNode,
  input: string,
): SourceChoice[] {
  return level.nodes.flatMap((source) =>
    (handles.get(source.id)?.outputs ?? []).flatMap(({ name, wireType }) => {
      const wire = { source: source.id, sourceHandle: name, target: node.id, targetHandle: input };
      if (refusalOf(level, handles, wire) !== undefined) return [];
      return [{ source: source.id, handle: name, wireType, label: `${nodeName(source)} · ${name}` }];
    }),
  );
}

/** Which containers this node may use. */
export function GrantList({ nodeId }: { readonly nodeId: string }) {
  const { editor } = useCanvas();
  const level = useLevel();
  if (level.containers.length === 0) return null;
  return (
    <section className="stack" aria-label="Grants">
      <h3>May use</h3>
      {level.containers.map(({ id, label }) => (
        <Check
          key={id}
          label={label || id}
          isChecked={hasGrant(level, id, nodeId)}
          onChange={(isGranted) =>
            editor.apply(isGranted ? 'Grant' : 'Take back a grant', (before) =>
              setGrant(before, id, nodeId, isGranted),
            )
          }
        />
      ))}
    </section>
  );
}
