// What the environment's panel lets a person choose before a run: its fields without those that choose one episode.
// Pure.
import type { Introspection } from '#contract/requests.ts';
import { formatWord } from '../../ui/format.ts';

export type Environment = Introspection['environments'][number];

export interface SelectorField {
  readonly name: string;
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  /** What the environment has now. */
  readonly current: string;
}

/** The steps of an episode where the form says nothing, in the order in which a run asks: panel, metadata, graph. */
export function stepBudgetOf(
  introspection: Pick<Introspection, 'stepBudget'>,
  environment: Environment | null,
): number | null {
  return (
    environment?.panelState?.stepBudget ??
    environment?.metadata?.stepBudget ??
    introspection.stepBudget ??
    null
  );
}

/** Set per episode by the run, never by the form. */
const perEpisode: ReadonlySet<string> = new Set(['episode_index', 'episode_id', 'seed']);

export function selectorFields(environment: Environment): SelectorField[] {
  const fields = environment.panel?.fields ?? [];
  return fields
    .filter((field) => !perEpisode.has(field.name))
    .map((field) => ({
      name: field.name,
      label: field.label || capitalised(formatWord(field.name)),
      options: optionsOf(
        field.options ?? (field.name === 'split' ? environment.metadata?.splits : undefined) ?? [],
      ),
      current: textOf(environment.panelState?.values[field.name] ?? field.value),
    }));
}

/** Episodes the choice has; undefined = not known, null = unbounded. */
export function episodeCount(
  environment: Environment,
  selectors: Readonly<Record<string, string>>,
): number | null | undefined {
  const counts = environment.metadata?.episodeCounts;
  const split = selectors['split'] ?? textOf(environment.panelState?.values['split']);
  if (counts && split in counts) return counts[split];
  return environment.panelState?.episodeCount ?? undefined;
}

function optionsOf(options: readonly unknown[]): SelectorField['options'] {
  return options.map((option) => {
    if (typeof option === 'object' && option !== null && 'value' in option) {
      const label = 'label' in option ? textOf(option.label) : '';
      return { value: textOf(option.value), label: label || textOf(option.value) };
    }
    return { value: textOf(option), label: textOf(option) };
  });
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return JSON.stringify(value) ?? '';
}

const capitalised = (words: string): string => words.slice(0, 1).toUpperCase() + words.slice(1);
