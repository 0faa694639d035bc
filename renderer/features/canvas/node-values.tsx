// What the selected node received and gave when it fired last, its inner log, and its error.
import { useStudio } from '../../store/use-studio.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { useLoad } from '../../ui/use-request.ts';
import { TextBlock } from '../../ui/text-block.tsx';
import type { ShownValue } from '#contract/play.ts';
import { usePlay } from './canvas-context.tsx';
import { formatMs } from './format-ms.ts';
import { ShownValueView } from './shown-value.tsx';

export interface NodeValuesProps {
  readonly flatId: string;
  readonly isComposite: boolean;
}

const settleMs = 100;

export function NodeValues({ flatId, isComposite }: NodeValuesProps) {
  const { client } = useStudio();
  const played = usePlay((state) => state.nodes.get(flatId));
  const execution = usePlay((state) => state.view?.executionId ?? '');
  const key = played && !isComposite ? `${execution} ${flatId} ${played.firings}` : null;
  const settled = useDebounced(key, settleMs);
  const { value } = useLoad(settled, (signal) => client.request('play.node', { nodeId: flatId }, signal));
  if (!played || !value) return null;
  const { node } = value;
  return (
    <section className="stack node-values" aria-label="Last firing">
      <h3>Last firing</h3>
      <p className="small muted">
        Iteration {node.step + 1} · {node.lastMs === null ? '' : formatMs(node.lastMs)} · {node.firings} in
        all, {formatMs(node.totalMs)}
      </p>
      {node.error ? (
        <TextBlock label="Error" className="log bad">
          {node.error}
        </TextBlock>
      ) : null}
      <Values
        title="Received"
        values={value.inputs.map(({ port, value: shown }) => ({ name: port, shown }))}
      />
      <Values title="Gave" values={value.outputs.map(({ port, value: shown }) => ({ name: port, shown }))} />
      <Values title="Inner log" values={value.log.map(({ key: name, value: shown }) => ({ name, shown }))} />
    </section>
  );
}

function Values({
  title,
  values,
}: {
  readonly title: string;
  readonly values: readonly { readonly name: string; readonly shown: ShownValue }[];
}) {
  if (values.length === 0) return null;
  return (
    <details open={values.length < 4}>
      <summary>{title}</summary>
      {values.map(({ name, shown }, index) => (
        // Log keys may repeat.
        // oxlint-disable-next-line react/no-array-index-key
        <div className="node-value" key={`${name} ${index}`}>
          <div className="faint small">{name}</div>
          <ShownValueView value={shown} label={name} />
        </div>
      ))}
    </details>
  );
}
