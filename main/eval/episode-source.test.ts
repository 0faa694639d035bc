import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import type { EvalConfig } from '../contract/eval-config.ts';
import { planEpisodes, plannedCountHint, type EpisodeSpace } from './episode-source.ts';

const space: EpisodeSpace = {
  envName: 'minivln',
  selection: { split: 'val_unseen' },
  label: 'val_unseen',
  episodeCount: 1839,
  canChoose: true,
};
const unbounded: EpisodeSpace = { ...space, envName: 'gymnasium', episodeCount: null };

type PlanConfig = Pick<EvalConfig, 'episodes' | 'repeats' | 'seed'>;
const config = (episodes: EvalConfig['episodes'], more: Partial<PlanConfig> = {}): PlanConfig => ({
  episodes,
  repeats: 1,
  seed: 0,
  ...more,
});
const indices = (episodes: EvalConfig['episodes'], where = space): (number | null)[] =>
  planEpisodes(config(episodes), where).map((episode) => episode.episodeIndex);

function refusal(act: () => unknown): { code: string; message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof StudioError) return { code: error.code, message: error.message };
  }
  throw new Error('was not refused');
}

describe('episode source', () => {
  it('"all" means all', () => {
    expect(indices('all')).toEqual(Array.from({ length: 1839 }, (_item, index) => index));
  });

  it('a count takes the first ones, indices keep their order', () => {
    expect(indices(3)).toEqual([0, 1, 2]);
    expect(indices({ indices: [5, 1, 1838] })).toEqual([5, 1, 1838]);
  });

  it('a sample is drawn without replacement by its own seed, in the order of the split', () => {
    const sample = indices({ sample: 50, seed: 7 });
    expect(new Set(sample).size).toBe(50);
    expect(sample).toEqual([...sample].sort((a, b) => Number(a) - Number(b)));
    expect(indices({ sample: 50, seed: 7 })).toEqual(sample);
    expect(indices({ sample: 50, seed: 8 })).not.toEqual(sample);
    expect(indices({ sample: 1839, seed: 1 })).toEqual(indices('all'));
  });

  it('says how many there are when more are asked for', () => {
    for (const episodes of [2000, { sample: 2000, seed: 0 }, { indices: [1839] }] as const) {
      const error = refusal(() => planEpisodes(config(episodes as EvalConfig['episodes']), space));
      expect(error.code).toBe('episode_unknown');
      expect(error.message).toContain('val_unseen of minivln has 1,839 episodes');
    }
  });

  it('refuses "all" and samples of an unbounded environment, but takes a count', () => {
    expect(refusal(() => planEpisodes(config('all'), unbounded)).code).toBe('episodes_unbounded');
    expect(refusal(() => planEpisodes(config({ sample: 5, seed: 0 }), unbounded)).code).toBe(
      'episodes_unbounded',
    );
    expect(indices(4, unbounded)).toEqual([0, 1, 2, 3]);
    expect(indices({ indices: [1_000_000] }, unbounded)).toEqual([1_000_000]);
  });

  it('refuses an episode that is listed twice', () => {
    expect(refusal(() => planEpisodes(config({ indices: [1, 2, 1] }), space)).message).toContain(
      'Episode 1 is listed twice',
    );
    expect(refusal(() => planEpisodes(config({ ids: ['a', 'a'] }), space)).code).toBe('invalid_input');
  });

  it('only counts where the environment deals its own episodes', () => {
    const dealt = { ...space, canChoose: false };
    expect(indices(3, dealt)).toEqual([null, null, null]);
    expect(refusal(() => planEpisodes(config({ indices: [1] }), dealt)).code).toBe('invalid_input');
  });

  it('repeats come after one another, each with keys and seeds of its own', () => {
    const plan = planEpisodes(config(3, { repeats: 3 }), space);
    expect(plan.map((episode) => [episode.episodeIndex, episode.repeat])).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
      [0, 1],
      [1, 1],
      [2, 1],
      [0, 2],
      [1, 2],
      [2, 2],
    ]);
    expect(plan.map((episode) => episode.ordinal)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(new Set(plan.map((episode) => episode.key)).size).toBe(9);
    expect(new Set(plan.map((episode) => episode.key.split('-')[1])).size).toBe(9);
    expect(new Set(plan.map((episode) => episode.seed)).size).toBe(9);
    expect(plan[0]?.key).toMatch(/^0+-[0-9a-f]{8}$/);
  });

  it('a policy seed depends on run seed, episode and repeat, and on nothing else of the selection', () => {
    const seedOf = (
      episodes: EvalConfig['episodes'],
      more: Partial<PlanConfig> = {},
      where = space,
    ): number | undefined =>
      planEpisodes(config(episodes, more), where).find((episode) => episode.episodeIndex === 7)?.seed;
    const seed = seedOf(10);
    expect(seedOf('all')).toBe(seed);
    expect(seedOf({ indices: [9, 7] })).toBe(seed);
    expect(seedOf(10, { seed: 1 })).not.toBe(seed);
    expect(seedOf(10, {}, { ...space, selection: { split: 'val_seen' } })).not.toBe(seed);
    expect(seed).toBeGreaterThanOrEqual(0);
    expect(seed).toBeLessThan(2 ** 32);
  });

  it('says how many rows a configuration leads to where it can', () => {
    expect(plannedCountHint(config(5, { repeats: 2 }))).toBe(10);
    expect(plannedCountHint(config({ ids: ['a', 'b'] }))).toBe(2);
    expect(plannedCountHint(config({ sample: 4, seed: 0 }))).toBe(4);
    expect(plannedCountHint(config({ indices: [1] }, { repeats: 3 }))).toBe(3);
    expect(plannedCountHint(config('all'))).toBeNull();
  });
});
