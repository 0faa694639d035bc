// Graph files as the services see them: found by name, described for lists, checked against the node types known now.
import type { GraphListItem } from './contract/requests.ts';
import type { GraphSource } from './eval/ports.ts';
import { parseGraph } from './graph/definition.ts';
import type { GraphEntry, GraphLibrary } from './graph/library.ts';
import type { ManifestSource } from './graph/ports.ts';
import { validateGraph } from './graph/validate/validate.ts';

export function createGraphSource(library: GraphLibrary, manifests: ManifestSource): GraphSource {
  return {
    async load(reference) {
      const { file, text, definition } = await library.load(reference);
      return { item: graphListItemOf(await library.describe(file.path)), text, definition };
    },
    parse: parseGraph,
    validate: (definition) => validateGraph(definition, manifests),
  };
}

export function graphListItemOf({ file, description, nodesets, evalGraph }: GraphEntry): GraphListItem {
  const { name, ref, origin, modifiedMs } = file;
  return {
    name,
    ref,
    origin,
    description,
    nodesets: [...nodesets],
    evalGraph,
    modifiedAt: new Date(modifiedMs).toISOString(),
  };
}
