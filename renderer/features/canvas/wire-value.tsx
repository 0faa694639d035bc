// What a wire carries: its type, and once something was played the last value, fetched while the pointer rests on it.
import { sourceOf } from '../../canvas-model/play-state.ts';
import { useCanvas, useEditorState, useLevel, useNodeDetail } from './canvas-context.tsx';
import { ShownValueView } from './shown-value.tsx';

export interface HoveredWire {
  readonly edgeId: string;
  readonly x: number;
  readonly y: number;
  readonly wireType: string;
}

export function WireValue({ hovered }: { readonly hovered: HoveredWire }) {
  const { editor } = useCanvas();
  const level = useLevel();
  const path = useEditorState((state) => state.path);
  const edge = level.edges.find(({ id }) => id === hovered.edgeId);
  const source = edge ? sourceOf(editor.root, path, edge) : null;
  const { isKnown, detail } = useNodeDetail(source?.nodeId ?? null);
  if (!edge) return null;
  const shown =
    source?.handle === 'default' ? undefined : detail?.outputs.find(({ port }) => port === source?.handle);
  return (
    <output className="wire-value" style={{ left: hovered.x + 14, top: hovered.y + 14 }}>
      <div className="row spread">
        <strong className="clip">
          {edge.sourceHandle || 'default'} → {edge.targetHandle || edge.sourceHandle}
        </strong>
        <span className="faint">{hovered.wireType}</span>
      </div>
      {shown ? (
        <>
          <ShownValueView value={shown.value} label={shown.port} />
          <div className="faint">iteration {(detail?.node.step ?? 0) + 1}</div>
        </>
      ) : (
        <div className="faint">{isKnown ? 'No value on this wire yet' : 'Nothing played yet'}</div>
      )}
    </output>
  );
}
