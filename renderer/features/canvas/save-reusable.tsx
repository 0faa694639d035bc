// A composite as a graph of its own in the workspace, to be used again.
import type { GraphDefinition } from '#contract/graph.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { useAction } from '../../ui/use-request.ts';
import { useState } from 'react';

export interface SaveReusableProps {
  readonly name: string;
  readonly definition: GraphDefinition;
}

export function SaveReusable({ name, definition }: SaveReusableProps) {
  const { client } = useStudio();
  const saving = useAction();
  const [saved, setSaved] = useState<string | null>(null);
  const save = (): void =>
    saving.run(async () => {
      const { ref } = await client.request('graphs.saveCopy', {
        name,
        originalText: null,
        definition: { ...definition, name, kind: 'node', eval_graph: false },
      });
      setSaved(ref);
    });
  return (
    <>
      <button type="button" className="button" disabled={saving.isBusy} onClick={save}>
        Save as reusable
      </button>
      {saved ? <span className="small muted">Saved; it is in the list of nodes under Reusable.</span> : null}
      {saving.error ? <span className="problem small">{saving.error.message}</span> : null}
    </>
  );
}
