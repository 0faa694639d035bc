// Graph files that reach the app from outside (double click, second start, menu). They are taken into the workspace
// and shown; opening one never runs anything.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Engine } from '../main/hosts/engine.ts';

const maxGraphBytes = 8 * 2 ** 20;

/** The graph files among a command line's words. */
export function graphArguments(argv: readonly string[], workingFolder: string): string[] {
  return argv
    .filter((word) => !word.startsWith('-') && /\.acgraph$/i.test(word))
    .map((word) => path.resolve(workingFolder, word));
}

/** The address of the page that shows the graph. Throws an Error with a message for people. */
export async function takeGraphFile(engine: Engine, file: string): Promise<string> {
  const info = await stat(file);
  if (info.size > maxGraphBytes)
    throw new Error(`${path.basename(file)} is larger than 8 MB and cannot be a graph.`);
  const text = await readFile(file, 'utf8');
  const name = path.basename(file).replace(/\.(acgraph|json)$/i, '');
  const reply = await engine.dispatcher.dispatch('graphs.import', { name, text });
  if (!reply.ok) throw new Error(reply.error.message);
  const { ref } = reply.value as { ref: string };
  return `/evaluate?graph=${encodeURIComponent(ref)}`;
}
