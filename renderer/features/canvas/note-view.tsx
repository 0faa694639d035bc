// A note: text on the canvas that does nothing.
import type { NodeProps } from '@xyflow/react';
import { memo } from 'react';
import type { NoteFlowNode } from './flow-model.ts';

export const NoteView = memo(function NoteView({ data, selected }: NodeProps<NoteFlowNode>) {
  const { markdown } = data.node.config;
  const text = typeof markdown === 'string' && markdown !== '' ? markdown : data.node.label;
  return (
    <div className={`note${selected ? ' selected' : ''}`}>
      {text || <span className="faint">Empty note</span>}
    </div>
  );
});
