// Whether a replica is replaced between two episodes although nothing is wrong with it: after so many episodes,
// above a memory limit, or when its memory only ever grows.

export interface RecycleOptions {
  readonly afterEpisodes: number | null;
  readonly aboveBytes: number | null;
  /** Growth per episode, by least squares over the last 32 episodes; null = do not look. */
  readonly slopeBytesPerEpisode: number | null;
}

export const neverRecycle: RecycleOptions = {
  afterEpisodes: null,
  aboveBytes: null,
  slopeBytesPerEpisode: null,
};

/** Resident memory after each of the last episodes of one replica. */
export interface ReplicaHistory {
  readonly episodes: number;
  readonly rssBytes: readonly number[];
}

export const newReplica: ReplicaHistory = { episodes: 0, rssBytes: [] };

const windowEpisodes = 32;

export function afterEpisode(history: ReplicaHistory, rssBytes: number | null): ReplicaHistory {
  const samples =
    rssBytes === null ? history.rssBytes : [...history.rssBytes, rssBytes].slice(-windowEpisodes);
  return { episodes: history.episodes + 1, rssBytes: samples };
}

/** Why the replica should be replaced now, or null. */
export function recycleReason(history: ReplicaHistory, options: RecycleOptions): string | null {
  const { afterEpisodes, aboveBytes, slopeBytesPerEpisode } = options;
  if (afterEpisodes !== null && history.episodes >= afterEpisodes)
    return `${history.episodes} episodes served`;
  const latest = history.rssBytes.at(-1);
  if (aboveBytes !== null && latest !== undefined && latest > aboveBytes)
    return `${megabytes(latest)} resident`;
  if (slopeBytesPerEpisode === null || history.rssBytes.length < windowEpisodes) return null;
  const slope = slopeOf(history.rssBytes);
  return slope > slopeBytesPerEpisode ? `grows by ${megabytes(slope)} an episode` : null;
}

function slopeOf(samples: readonly number[]): number {
  const middle = (samples.length - 1) / 2;
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
  let covariance = 0;
  let variance = 0;
  for (const [index, sample] of samples.entries()) {
    covariance += (index - middle) * (sample - mean);
    variance += (index - middle) ** 2;
  }
  return covariance / variance;
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;
