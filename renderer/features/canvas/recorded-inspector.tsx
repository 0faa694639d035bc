// What is selected in the graph of a run: what it received and gave at the shown firing, and how it was set.
import { Layers } from 'lucide-react';
import { flatId, nodeName } from '../../canvas-model/levels.ts';
import { TextBlock } from '../../ui/text-block.tsx';
import { useCanvas, useEditorState, useLevel } from './canvas-context.tsx';
import { NodeValues } from './node-values.tsx';

export function RecordedInspector() {
  const { editor } = useCanvas();
  const level = useLevel();
  const path = useEditorState((state) => state.path);
  const selection = useEditorState((state) => state.selection);
  const node = level.nodes.find(({ id }) => selection.ids.has(id));
  if (!node)
    return (
      <div className="stack">
        <h2>{level.name || 'Graph'}</h2>
        {level.description ? <p className="small muted">{level.description}</p> : null}
        <p className="small muted">
          Select a node to see what it received and gave; rest the pointer on a wire for its value.
        </p>
      </div>
    );
  const config = Object.entries(node.config);
  return (
    <div className="stack">
      <h2 className="clip">{nodeName(node)}</h2>
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
      {node.subgraph ? (
        <div className="row">
          <button type="button" className="button" onClick={() => editor.open([...path, node.id])}>
            <Layers size={14} aria-hidden="true" />
            Open
          </button>
        </div>
      ) : null}
      <NodeValues flatId={flatId(path, node.id)} isComposite={node.subgraph != null} />
      {config.length > 0 ? (
        <section className="stack">
          <h3>Settings in the run</h3>
          <TextBlock label="Settings" className="log">
            {JSON.stringify(node.config, null, 1)}
          </TextBlock>
        </section>
      ) : null}
    </div>
  );
}
