import { describe, expect, it } from 'vitest';
import { afterEpisode, neverRecycle, newReplica, recycleReason, type ReplicaHistory } from './recycling.ts';

const megabyte = 2 ** 20;
const served = (samples: readonly number[]): ReplicaHistory =>
  samples.reduce((history: ReplicaHistory, rss) => afterEpisode(history, rss), newReplica);

describe('recycling', () => {
  it('is off unless asked for', () => {
    expect(recycleReason(served(Array(500).fill(9e9)), neverRecycle)).toBeNull();
  });

  it('comes due after a number of episodes and above a memory limit', () => {
    const options = { ...neverRecycle, afterEpisodes: 3, aboveBytes: 200 * megabyte };
    expect(recycleReason(served([megabyte, megabyte]), options)).toBeNull();
    expect(recycleReason(served([megabyte, megabyte, megabyte]), options)).toBe('3 episodes served');
    expect(recycleReason(served([201 * megabyte]), options)).toBe('201 MB resident');
  });

  it('comes due when memory grows steadily, not when it wobbles', () => {
    const options = { ...neverRecycle, slopeBytesPerEpisode: megabyte };
    const growing = Array.from({ length: 40 }, (_item, index) => 100 * megabyte + index * 2 * megabyte);
    const wobbling = Array.from(
      { length: 40 },
      (_item, index) => 100 * megabyte + (index % 2) * 8 * megabyte,
    );
    expect(recycleReason(served(growing), options)).toBe('grows by 2 MB an episode');
    expect(recycleReason(served(growing.slice(0, 31)), options)).toBeNull();
    expect(recycleReason(served(wobbling), options)).toBeNull();
  });

  it('counts episodes also where memory is not known', () => {
    const history = afterEpisode(afterEpisode(newReplica, null), null);
    expect(history).toEqual({ episodes: 2, rssBytes: [] });
  });
});
