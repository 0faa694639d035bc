// A state container on the canvas: its states, and the handle that gives grants.
import { Handle, Position, type NodeProps } from '@xyflow/react';
import { Database } from 'lucide-react';
import { memo } from 'react';
import { grantHandle, type ContainerFlowNode } from './flow-model.ts';

export const ContainerView = memo(function ContainerView({ data, selected }: NodeProps<ContainerFlowNode>) {
  const { container, grants } = data;
  const states = Object.entries(container.states);
  return (
    <div className={`node container${selected ? ' selected' : ''}`}>
      <div className="node-head node-main">
        <Database size={13} aria-label="Container" />
        <span className="node-title clip grow">{container.label || container.id}</span>
        <span className="node-count">{grants === 1 ? '1 grant' : `${grants} grants`}</span>
      </div>
      <ul className="node-states">
        {states.map(([name, state]) => (
          <li key={name} className="row spread">
            <span className="clip">{name}</span>
            <span className="faint">{state.type}</span>
          </li>
        ))}
        {states.length === 0 ? <li className="faint">No states yet</li> : null}
      </ul>
      <Handle
        type="source"
        position={Position.Bottom}
        id={grantHandle}
        className="port grant"
        title="Draw to a node to let it use this container"
      />
    </div>
  );
});
