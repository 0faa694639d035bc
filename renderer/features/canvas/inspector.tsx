// What is selected and what can be set about it: a node, a container, or with nothing selected the graph itself.
import { Layers } from 'lucide-react';
import { setLabel } from '../../canvas-model/node-commands.ts';
import { flatId } from '../../canvas-model/levels.ts';
import { useCanvas, useEditorState, useLevel } from './canvas-context.tsx';
import { ConfigForm } from './config-form.tsx';
import { ContainerForm } from './container-form.tsx';
import { GraphForm } from './graph-form.tsx';
import { NodeValues } from './node-values.tsx';
import { SaveReusable } from './save-reusable.tsx';
import { GrantList, WiringList } from './wiring-list.tsx';

export function Inspector() {
  const selection = useEditorState((state) => state.selection);
  const level = useLevel();
  const node = level.nodes.find(({ id }) => selection.ids.has(id));
  const container = level.containers.find(({ id }) => selection.ids.has(id));
  if (selection.ids.size > 1) return <ManySelected count={selection.ids.size} />;
  if (node) return <NodeInspector key={node.id} id={node.id} />;
  if (container) return <ContainerForm key={container.id} container={container} />;
  return <GraphForm />;
}

function ManySelected({ count }: { readonly count: number }) {
  const { editor } = useCanvas();
  return (
    <div className="stack">
      <h2>{count} selected</h2>
      <div className="row wrap">
        <button type="button" className="button" onClick={() => editor.group()}>
          Group into a composite
        </button>
        <button type="button" className="button" onClick={() => editor.duplicate()}>
          Duplicate
        </button>
        <button type="button" className="button danger" onClick={() => editor.removeSelected()}>
          Remove
        </button>
      </div>
    </div>
  );
}

function NodeInspector({ id }: { readonly id: string }) {
  const { editor, types } = useCanvas();
  const level = useLevel();
  const path = useEditorState((state) => state.path);
  const node = level.nodes.find((candidate) => candidate.id === id);
  if (!node) return null;
  const manifest = types.get(node.type);
  return (
    <div className="stack">
      <label className="stacked-field">
        <span className="label">Name</span>
        <input
          className="input"
          value={node.label}
          placeholder={node.id}
          onChange={(event) => {
            const label = event.target.value;
            editor.apply('Rename', (before) => setLabel(before, id, label), `label ${id}`);
          }}
        />
      </label>
      <dl className="facts small">
        <dt>Type</dt>
        <dd>
          <code>{node.type}</code>
        </dd>
        <dt>Id</dt>
        <dd>
          <code>{node.id}</code>
        </dd>
      </dl>
      {manifest?.description ? <p className="small muted">{manifest.description}</p> : null}
      {!manifest && !node.subgraph ? (
        <p className="small problem">
          No loaded nodeset provides this type. It is kept as it is; it cannot run until its nodeset is there.
        </p>
      ) : null}
      {node.subgraph ? (
        <div className="row wrap">
          <button type="button" className="button" onClick={() => editor.open([...path, id])}>
            <Layers size={14} aria-hidden="true" />
            Open
          </button>
          <button type="button" className="button" onClick={() => editor.ungroup()}>
            Take apart
          </button>
          <SaveReusable name={node.label || node.id} definition={node.subgraph} />
        </div>
      ) : null}
      <NodeValues flatId={flatId(path, id)} isComposite={node.subgraph != null} />
      <ConfigForm node={node} manifest={manifest} />
      <WiringList node={node} />
      <GrantList nodeId={id} />
    </div>
  );
}
