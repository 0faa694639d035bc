// Which graph Evaluate shows when the address names none. Pure.
import type { GraphListItem } from '#contract/requests.ts';

/** The examples that need nothing but the app itself, the shipped policy before the one that acts at random. */
const examples = ['minivln_cma', 'minivln_random'];

/** The graph a run was started with last, else an example of the library, else the first; null without any. */
export function firstGraph(usable: readonly GraphListItem[], recent: readonly string[]): string | null {
  const used = recent.find((ref) => usable.some((graph) => graph.ref === ref));
  if (used !== undefined) return used;
  const shipped = usable.filter((graph) => graph.origin === 'library');
  const example = examples
    .map((name) => shipped.find((graph) => graph.name === name))
    .find((graph) => graph !== undefined);
  return (example ?? usable[0])?.ref ?? null;
}
