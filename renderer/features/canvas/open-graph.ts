// Opening a graph: the file as it is, and over it what was not saved last time.
import type { Client } from '../../api/client.ts';
import { Editor, type SavedGraph } from '../../canvas-model/editor.ts';
import type { Manifests } from '../../canvas-model/handles.ts';
import { emptyGraph } from '../../canvas-model/levels.ts';
import { findDraft, type Draft } from '../../canvas-model/recovery.ts';

export interface OpenGraph {
  readonly editor: Editor;
  /** What to say about work that was taken up again; null when there was none. */
  readonly recovered: string | null;
}

export async function openGraph(
  client: Client,
  ref: string,
  manifests: () => Manifests,
  signal: AbortSignal,
): Promise<OpenGraph> {
  const { item, text, definition } = await client.request('graphs.read', { ref }, signal);
  const saved: SavedGraph = { ref, name: item.name, text, definition, isLibrary: item.origin === 'library' };
  return withDraft(saved, findDraft(localStorage, ref), manifests);
}

export function openNewGraph(manifests: () => Manifests): OpenGraph {
  const saved: SavedGraph = {
    ref: null,
    name: 'New graph',
    text: null,
    definition: emptyGraph(''),
    isLibrary: false,
  };
  return withDraft(saved, findDraft(localStorage, null), manifests);
}

function withDraft(saved: SavedGraph, draft: Draft | null, manifests: () => Manifests): OpenGraph {
  const editor = new Editor(saved, { manifests, now: () => Date.now() });
  if (!draft) return { editor, recovered: null };
  editor.restore('Recover unsaved changes', draft.definition);
  const when = new Date(draft.savedAtMs).toLocaleString();
  const moved =
    draft.originalText === saved.text
      ? ''
      : ' The file itself was changed since then; “Show changes” lists what differs.';
  return { editor, recovered: `Changes of ${when} that were not saved are back.${moved}` };
}
