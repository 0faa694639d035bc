// Which episodes a run consists of: a pure function of the configuration and of what the loaded environment says.
// The list is fixed before the start; seeds belong to episodes, never to workers or attempts.
import { StudioError } from '../base/errors.ts';
import { createRandom, deriveSeed, shuffled } from '../base/random.ts';
import { stableHash } from '../base/stable-hash.ts';
import { episodeKey } from '../store/run-id.ts';
import type { EpisodeSelection, EvalConfig } from '../contract/eval-config.ts';
import type { PlannedEpisode } from '../contract/run.ts';

/** The set of episodes the selectors lead to. */
export interface EpisodeSpace {
  readonly envName: string;
  /** Values of the panel's selectors; with the index or id they are an episode's identity. */
  readonly selection: Readonly<Record<string, unknown>>;
  /** For messages: the split, or whatever the selectors name. */
  readonly label: string;
  /** null = unbounded. */
  readonly episodeCount: number | null;
  /** False: the environment deals its own episodes, so they can be counted but not chosen. */
  readonly canChoose: boolean;
  /** Where the environment says the chosen ids stand in the split: an episode is the same however it was chosen. */
  readonly indexOfId?: ReadonlyMap<string, number> | undefined;
}

type Choice = Pick<PlannedEpisode, 'episodeIndex' | 'episodeId'>;

/**
 * The plan in scheduling order: every chosen episode once, then all again for each repeat.
 * Throws `episodes_unbounded`, `episode_unknown` (says how many there are) or `invalid_input`.
 */
export function planEpisodes(
  config: Pick<EvalConfig, 'episodes' | 'repeats' | 'seed'>,
  space: EpisodeSpace,
): PlannedEpisode[] {
  const choices = space.canChoose ? choose(config.episodes, space) : deal(config.episodes, space);
  const plan: PlannedEpisode[] = [];
  for (let repeat = 0; repeat < config.repeats; repeat++) {
    for (const [position, choice] of choices.entries()) {
      const ordinal = plan.length;
      const identity = episodeIdentity(space, choice, position);
      plan.push({
        ordinal,
        key: episodeKey({ ordinal, ...choice, repeat, selectors: { identity } }),
        ...choice,
        repeat,
        seed: deriveSeed(config.seed, identity, repeat),
      });
    }
  }
  return plan;
}

/** What makes two episodes the same one, in every run and whatever the worker. */
export function episodeIdentity(
  space: Pick<EpisodeSpace, 'envName' | 'selection'>,
  choice: Choice,
  position = 0,
): string {
  const which =
    choice.episodeIndex === null && choice.episodeId !== null
      ? `id ${choice.episodeId}`
      : `index ${choice.episodeIndex ?? position}`;
  return stableHash([space.envName, space.selection, which]);
}

/** How many rows a plan will have, as far as the configuration alone tells; null when the environment decides. */
export function plannedCountHint(config: Pick<EvalConfig, 'episodes' | 'repeats'>): number | null {
  const { episodes, repeats } = config;
  if (episodes === 'all') return null;
  if (typeof episodes === 'number') return episodes * repeats;
  if ('indices' in episodes) return episodes.indices.length * repeats;
  if ('ids' in episodes) return episodes.ids.length * repeats;
  return episodes.sample * repeats;
}

function choose(selection: EpisodeSelection, space: EpisodeSpace): Choice[] {
  if (selection === 'all') return range(boundedCount(space, 'all'));
  if (typeof selection === 'number') return range(atMost(selection, space));
  if ('sample' in selection) {
    const count = boundedCount(space, 'a sample');
    const sample = atMost(selection.sample, space);
    const drawn = shuffled(indicesBelow(count), createRandom(selection.seed)).slice(0, sample);
    return drawn.sort((a, b) => a - b).map(byIndex);
  }
  if ('ids' in selection) {
    refuseDuplicates(selection.ids);
    return selection.ids.map((episodeId) => ({
      episodeIndex: space.indexOfId?.get(episodeId) ?? null,
      episodeId,
    }));
  }
  refuseDuplicates(selection.indices);
  const last = Math.max(...selection.indices);
  const { episodeCount } = space;
  if (episodeCount !== null && last >= episodeCount) {
    throw unknownEpisode(
      space,
      episodeCount,
      `index ${last} was asked for; the last one is ${episodeCount - 1}`,
    );
  }
  return selection.indices.map(byIndex);
}

function deal(selection: EpisodeSelection, space: EpisodeSpace): Choice[] {
  const nobody: Choice = { episodeIndex: null, episodeId: null };
  if (selection === 'all') return indicesBelow(boundedCount(space, 'all')).map(() => nobody);
  if (typeof selection === 'number') return indicesBelow(atMost(selection, space)).map(() => nobody);
  throw new StudioError(
    'invalid_input',
    `${space.envName} deals its own episodes, so single ones cannot be chosen. Give a number of episodes.`,
  );
}

function atMost(asked: number, space: EpisodeSpace): number {
  const { episodeCount } = space;
  if (episodeCount === null || asked <= episodeCount) return asked;
  throw unknownEpisode(space, episodeCount, `${asked.toLocaleString('en')} were asked for`);
}

function boundedCount(space: EpisodeSpace, what: string): number {
  if (space.episodeCount !== null) return space.episodeCount;
  throw new StudioError(
    'episodes_unbounded',
    `${space.envName} has no fixed number of episodes, so "${what}" cannot be evaluated. Give a number of episodes or a range of indices.`,
  );
}

function unknownEpisode(space: EpisodeSpace, count: number, asked: string): StudioError {
  const has = `${space.label} of ${space.envName} has ${count.toLocaleString('en')} episodes`;
  return new StudioError('episode_unknown', `${has}, but ${asked}. Ask for fewer, or for "all".`, {
    details: { episodeCount: count },
  });
}

function refuseDuplicates(items: readonly (string | number)[]): void {
  const seen = new Set<string | number>();
  for (const item of items) {
    if (seen.has(item)) {
      const message = `Episode ${item} is listed twice. List it once and set repeats to run it more often.`;
      throw new StudioError('invalid_input', message);
    }
    seen.add(item);
  }
}

const byIndex = (episodeIndex: number): Choice => ({ episodeIndex, episodeId: null });
const indicesBelow = (count: number): number[] => Array.from({ length: count }, (_item, index) => index);
const range = (count: number): Choice[] => indicesBelow(count).map(byIndex);
