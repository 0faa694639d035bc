// The splits: how many episodes and apartments each has, and which apartment an episode is in. val_seen uses the
// apartments of train with other paths. Everything follows from (split, index); the order is random, not by difficulty.
import { deriveSeed } from 'agentcanvas';

interface Split {
  readonly episodes: number;
  readonly layouts: number;
  /** Apartments come from this family of seeds. */
  readonly family: 'train' | 'unseen';
  readonly prefix: string;
}

export const splits = {
  train: { episodes: 10_000, layouts: 1000, family: 'train', prefix: 'tr' },
  val_seen: { episodes: 1000, layouts: 1000, family: 'train', prefix: 'vs' },
  val_unseen: { episodes: 1839, layouts: 100, family: 'unseen', prefix: 'vu' },
} as const satisfies Record<string, Split>;

export type SplitName = keyof typeof splits;
export const splitNames = ['train', 'val_seen', 'val_unseen'] as const satisfies readonly SplitName[];

export function isSplit(name: unknown): name is SplitName {
  return typeof name === 'string' && Object.hasOwn(splits, name);
}

export function requireSplit(name: unknown): SplitName {
  if (isSplit(name)) return name;
  throw new Error(`minivln has no split "${String(name)}"; choose one of ${splitNames.join(', ')}`);
}

export function requireIndex(split: SplitName, index: unknown): number {
  const { episodes } = splits[split];
  const value = typeof index === 'string' && index.trim() !== '' ? Number(index) : index;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < episodes) return value;
  throw new Error(
    `minivln ${split} has ${episodes} episodes, 0 to ${episodes - 1}; there is no ${String(index)}`,
  );
}

export interface EpisodeAddress {
  readonly split: SplitName;
  readonly index: number;
}

export function episodeIdOf({ split, index }: EpisodeAddress): string {
  return `${splits[split].prefix}_${String(index).padStart(6, '0')}`;
}

export function parseEpisodeId(id: unknown): EpisodeAddress {
  const match = /^([a-z]+)_(\d+)$/.exec(String(id));
  const split = splitNames.find((name) => splits[name].prefix === match?.[1]);
  if (split) return { split, index: requireIndex(split, match?.[2]) };
  const forms = splitNames.map((name) => `${splits[name].prefix}_000000 (${name})`).join(', ');
  throw new Error(`minivln has no episode "${String(id)}"; ids look like ${forms}`);
}

export interface SceneAddress {
  readonly sceneId: string;
  readonly layoutSeed: number;
}

export function sceneOf({ split, index }: EpisodeAddress): SceneAddress {
  const { family, layouts } = splits[split];
  const number = deriveSeed('minivln scene', split, index) % layouts;
  return {
    sceneId: `${family}_${String(number).padStart(4, '0')}`,
    layoutSeed: deriveSeed('minivln layout', family, number),
  };
}
