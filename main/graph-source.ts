// Graph files as the services see them: found by name, described for lists, checked against the node types known now.
import path from 'node:path';
import type { GraphDefinition } from './contract/graph.ts';
import type { GraphListItem } from './contract/requests.ts';
import type { GraphSource } from './eval/ports.ts';
import { parseGraph } from './graph/definition.ts';
import { executableFields } from './graph/graph-tools.ts';
import type { GraphEntry, GraphLibrary } from './graph/library.ts';
import type { ManifestSource } from './graph/ports.ts';
import { validateGraph } from './graph/validate/validate.ts';
import { StudioError } from './base/errors.ts';

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

/** Hooks are commands: a graph that has some runs only from a trusted folder. */
export async function refuseUntrustedHooks(
  definition: GraphDefinition,
  file: string,
  trusts: (path: string) => Promise<boolean>,
): Promise<void> {
  const commands = executableFields(definition).map(
    ({ where, event, command }) => `${where} (${event}): ${command}`,
  );
  if (commands.length === 0 || (await trusts(file))) return;
  const message = `The graph runs commands and lies in a folder that is not trusted: ${file}. It would run: ${commands.slice(0, 3).join('; ')}. If you know who wrote it, trust the folder (--trust PATH).`;
  throw new StudioError('untrusted', message, {
    details: { path: file, folder: path.dirname(file), wouldRun: commands },
  });
}
