// The graph itself: name, description, budget, whether evaluation may take it.
import { setGraph, type GraphSettings } from '../../canvas-model/node-commands.ts';
import { Check } from '../../ui/field.tsx';
import { useCanvas, useLevel } from './canvas-context.tsx';

export function GraphForm() {
  const { editor } = useCanvas();
  const level = useLevel();
  const set = (settings: GraphSettings, key: string): void =>
    editor.apply('Change the graph', (before) => setGraph(before, settings), key);
  return (
    <div className="stack">
      <h2>Graph</h2>
      <label className="stacked-field">
        <span className="label">Name in the file</span>
        <input
          className="input"
          value={level.name}
          onChange={(event) => set({ name: event.target.value }, 'graph name')}
        />
      </label>
      <label className="stacked-field">
        <span className="label">Description</span>
        <textarea
          className="textarea"
          rows={3}
          value={level.description}
          onChange={(event) => set({ description: event.target.value }, 'graph description')}
        />
      </label>
      <label className="stacked-field">
        <span className="label">Step budget</span>
        <input
          className="input number"
          inputMode="numeric"
          placeholder="1000"
          value={level.step_budget ?? ''}
          onChange={(event) => {
            const text = event.target.value.trim();
            const number = Number(text);
            if (text === '') set({ step_budget: null }, 'graph budget');
            else if (Number.isInteger(number) && number >= 1) set({ step_budget: number }, 'graph budget');
          }}
        />
      </label>
      <Check
        label="Evaluation may run it"
        isChecked={level.eval_graph}
        onChange={(isEval) => set({ eval_graph: isEval }, 'graph eval')}
      />
      <dl className="facts small">
        <dt>Nodes</dt>
        <dd>{level.nodes.length}</dd>
        <dt>Wires</dt>
        <dd>{level.edges.length}</dd>
        {level.containers.length > 0 ? (
          <>
            <dt>Containers</dt>
            <dd>{level.containers.length}</dd>
          </>
        ) : null}
        {level.hooks.length > 0 ? (
          <>
            <dt>Hooks</dt>
            <dd>{level.hooks.length}; they run only from a trusted folder</dd>
          </>
        ) : null}
      </dl>
    </div>
  );
}
