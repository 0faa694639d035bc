// What the selected node received and gave when it fired last, its inner log, and its error.
import { TextBlock } from '../../ui/text-block.tsx';
import type { DrawnValue } from '../../canvas-model/drawn-value.ts';
import { useNodeDetail } from './canvas-context.tsx';
import { formatMs } from './format-ms.ts';
import { ShownValueView } from './shown-value.tsx';

export interface NodeValuesProps {
  readonly flatId: string;
  readonly isComposite: boolean;
}

export function NodeValues({ flatId, isComposite }: NodeValuesProps) {
  const { detail } = useNodeDetail(isComposite ? null : flatId);
  if (!detail) return null;
  const { node } = detail;
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
        values={detail.inputs.map(({ port, value: shown }) => ({ name: port, shown }))}
      />
      <Values title="Gave" values={detail.outputs.map(({ port, value: shown }) => ({ name: port, shown }))} />
      <Values title="Inner log" values={detail.log.map(({ key: name, value: shown }) => ({ name, shown }))} />
    </section>
  );
}

function Values({
  title,
  values,
}: {
  readonly title: string;
  readonly values: readonly { readonly name: string; readonly shown: DrawnValue }[];
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
