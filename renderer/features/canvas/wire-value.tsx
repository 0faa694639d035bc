// What a wire carries: its type, and once something was played the last value, fetched while the pointer rests on it.
import { useStudio } from '../../store/use-studio.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { useLoad } from '../../ui/use-request.ts';
import { sourceOf } from '../../canvas-model/play-state.ts';
import { useCanvas, useEditorState, useLevel, usePlay } from './canvas-context.tsx';
import { ShownValueView } from './shown-value.tsx';

export interface HoveredWire {
  readonly edgeId: string;
  readonly x: number;
  readonly y: number;
  readonly wireType: string;
}

const restMs = 120;

export function WireValue({ hovered }: { readonly hovered: HoveredWire }) {
  const { client } = useStudio();
  const { editor } = useCanvas();
  const level = useLevel();
  const path = useEditorState((state) => state.path);
  const edge = level.edges.find(({ id }) => id === hovered.edgeId);
  const source = edge ? sourceOf(editor.root, path, edge) : null;
  const firings = usePlay((state) => (source ? (state.nodes.get(source.nodeId)?.firings ?? 0) : 0));
  const key = source && firings > 0 ? `${source.nodeId} ${firings}` : null;
  const settled = useDebounced(key, restMs);
  const { value } = useLoad(settled, (signal) =>
    client.request('play.node', { nodeId: source?.nodeId ?? '' }, signal),
  );
  if (!edge) return null;
  const shown =
    source?.handle === 'default' ? undefined : value?.outputs.find(({ port }) => port === source?.handle);
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
          <div className="faint">iteration {(value?.node.step ?? 0) + 1}</div>
        </>
      ) : (
        <div className="faint">{firings > 0 ? 'No value on this wire yet' : 'Nothing played yet'}</div>
      )}
    </output>
  );
}
