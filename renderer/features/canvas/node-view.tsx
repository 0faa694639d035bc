// One node: name, typed handles, what Play says about it, and for viewers what reached them.
import { Handle, Position, type NodeProps } from '@xyflow/react';
import { CircleX, Layers, LoaderCircle, TriangleAlert } from 'lucide-react';
import { memo } from 'react';
import type { PlayedNode } from '#contract/play.ts';
import type { Handle as GraphHandle } from '../../canvas-model/handles.ts';
import { flatId, nodeName } from '../../canvas-model/levels.ts';
import { newPortHandle } from '../../canvas-model/node-commands.ts';
import { useEditorState, usePlayed, useViewer } from './canvas-context.tsx';
import { grantHandle, rowsOf, wireClass, type GraphFlowNode } from './flow-model.ts';
import { useDetailLevel } from './detail-context.ts';
import { formatMs } from './format-ms.ts';
import { ViewerBody } from './viewers.tsx';

export const NodeView = memo(function NodeView({ data, selected, height }: NodeProps<GraphFlowNode>) {
  const { node, manifest } = data;
  const isComposite = node.subgraph != null;
  const isUnknown = !manifest && !isComposite;
  const played = usePlayed(node.id, isComposite);
  const state = played?.error
    ? 'failed'
    : played?.isFiring
      ? 'firing'
      : played && played.firings > 0
        ? 'fired'
        : 'quiet';
  const isViewer = manifest?.kind === 'viewer';
  const detail = useDetailLevel();
  const className = `node ${state}${selected ? ' selected' : ''}${isUnknown ? ' unknown' : ''}${isViewer ? ' viewer' : ''}`;
  if (detail !== 'full' && !isViewer)
    return (
      <div className={`${className} plain ${detail}`} style={{ height }} title={nodeName(node)}>
        {detail === 'tiny' ? null : <span className="node-title">{nodeName(node)}</span>}
      </div>
    );
  return (
    <div className={className}>
      <NodeFace data={data} state={state} played={played} />
      {isUnknown ? <div className="node-note clip">{node.type} is not known here</div> : null}
      {isViewer ? <ViewerPart node={node} config={{ ...manifest?.defaultConfig, ...node.config }} /> : null}
      {played?.error ? (
        <div className="node-error" title={played.error}>
          {played.error}
        </div>
      ) : null}
    </div>
  );
});

interface NodeFaceProps {
  readonly data: GraphFlowNode['data'];
  readonly state: 'failed' | 'firing' | 'fired' | 'quiet';
  readonly played: PlayedNode | undefined;
}

/** Name, what Play says, and the ports. */
function NodeFace({ data, state, played }: NodeFaceProps) {
  const { node, handles, manifest, takesPorts, takesGrants } = data;
  const { inputs, outputs } = handles;
  const isComposite = node.subgraph != null;
  return (
    <>
      {takesGrants ? (
        <Handle
          type="target"
          position={Position.Top}
          id={grantHandle}
          className="port grant"
          title="Grants"
        />
      ) : null}
      <div className="node-main">
        <div className="node-head" title={manifest?.description || node.type}>
          {isComposite ? <Layers size={13} aria-label="Composite" /> : null}
          {manifest || isComposite ? null : <TriangleAlert size={13} aria-label="Unknown type" />}
          <span className="node-title clip grow">{nodeName(node)}</span>
          {state === 'failed' ? <CircleX size={13} className="bad" aria-label="Failed" /> : null}
          {state === 'firing' ? <LoaderCircle size={13} className="busy" aria-label="Firing" /> : null}
          {played && state !== 'firing' ? (
            <span className="node-time">{played.lastMs === null ? '' : formatMs(played.lastMs)}</span>
          ) : null}
          {played ? <span className="node-count">×{played.firings}</span> : null}
        </div>
        <div className="node-ports">
          {Array.from({ length: rowsOf(handles, takesPorts) }, (_item, row) => {
            const input = inputs[row];
            const output = outputs[row];
            const isNew = takesPorts && row === inputs.length;
            return (
              <div className="port-row" key={`${input?.name ?? (isNew ? '+' : '')} ${output?.name ?? ''}`}>
                {input ? <Port handle={input} side="in" /> : isNew ? <NewPort /> : <span />}
                {output ? <Port handle={output} side="out" /> : null}
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

interface ViewerPartProps {
  readonly node: { readonly id: string; readonly type: string };
  readonly config: Readonly<Record<string, unknown>>;
}

function ViewerPart({ node, config }: ViewerPartProps) {
  const path = useEditorState((state) => state.path);
  const content = useViewer(flatId(path, node.id));
  return <ViewerBody type={node.type} config={config} content={content} />;
}

function Port({ handle, side }: { readonly handle: GraphHandle; readonly side: 'in' | 'out' }) {
  const { name, wireType, isUnknown } = handle;
  const required = handle.required && side === 'in';
  const isList = wireType.startsWith('LIST[');
  const says = isUnknown ? `${name}: no such port` : `${name}: ${wireType}${required ? ', required' : ''}`;
  return (
    <span className={`port-name ${side}${isUnknown ? ' unknown' : ''}`} title={says}>
      <Handle
        type={side === 'in' ? 'target' : 'source'}
        position={side === 'in' ? Position.Left : Position.Right}
        id={name}
        className={`port ${wireClass(wireType)}${isList ? ' list' : ''}${required ? ' required' : ''}`}
      />
      <span>{name}</span>
    </span>
  );
}

function NewPort() {
  return (
    <span className="port-name in new" title="Draw a wire here to make a port for it">
      <Handle type="target" position={Position.Left} id={newPortHandle} className="port new" />
      <span>new port</span>
    </span>
  );
}
