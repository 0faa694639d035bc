import { describe, expect, it } from 'vitest';
import { createEpisodeQueue } from './episode-queue.ts';
import { planOf } from './testing/fake-journal.ts';

const ordinals = (count: number, take: () => { ordinal: number } | undefined): (number | undefined)[] =>
  Array.from({ length: count }, () => take()?.ordinal);

describe('episode queue', () => {
  it('hands out in plan order, a retry first', () => {
    const plan = planOf(3);
    const queue = createEpisodeQueue(plan);
    const first = queue.take(0);
    queue.take(1);
    if (first) queue.retry(first);
    expect(ordinals(3, () => queue.take(0))).toEqual([0, 2, undefined]);
  });

  it('keeps idle workers waiting while an episode in flight may come back', async () => {
    const queue = createEpisodeQueue(planOf(1));
    const episode = queue.take(0);
    const seen: boolean[] = [];
    void queue.available().then((isAvailable) => seen.push(isAvailable));
    await Promise.resolve();
    expect(seen).toEqual([]);
    if (episode) queue.retry(episode);
    await Promise.resolve();
    expect(seen).toEqual([true]);
  });

  it('says that nothing will come once all are finished', async () => {
    const queue = createEpisodeQueue(planOf(1));
    const episode = queue.take(0);
    const waiting = queue.available();
    if (episode) queue.finish(episode);
    expect(await waiting).toBe(false);
  });

  it('hands out nothing after it was closed, not even a retry', async () => {
    const queue = createEpisodeQueue(planOf(5));
    const episode = queue.take(0);
    queue.close();
    if (episode) queue.retry(episode);
    expect(await queue.available()).toBe(false);
    expect(queue.take(0)).toBeUndefined();
  });

  it('keeps idle workers waiting when one of two episodes in flight is finished', async () => {
    const queue = createEpisodeQueue(planOf(2));
    const [first, second] = [queue.take(0), queue.take(1)];
    const seen: boolean[] = [];
    for (let worker = 2; worker < 4; worker++)
      void queue.available().then((isAvailable) => seen.push(isAvailable));
    if (first) queue.finish(first);
    await Promise.resolve();
    expect(seen).toEqual([]);
    if (second) queue.retry(second);
    await Promise.resolve();
    expect(seen).toEqual([true, true]);
  });

  it('tells those who wait that it was closed', async () => {
    const queue = createEpisodeQueue(planOf(1));
    queue.take(0);
    const waiting = queue.available();
    queue.close();
    expect(await waiting).toBe(false);
  });

  it('says that nothing will come when there is no episode', async () => {
    expect(await createEpisodeQueue([]).available()).toBe(false);
    expect(createEpisodeQueue([], 'scene').take(0)).toBeUndefined();
  });

  it('waits for an episode in flight although a worker came for one in vain', async () => {
    const queue = createEpisodeQueue(planOf(1));
    const episode = queue.take(0);
    expect(queue.take(1)).toBeUndefined();
    if (episode) queue.finish(episode);
    expect(await queue.available()).toBe(false);
  });

  it('without affinity hands out in plan order to whoever asks', () => {
    const queue = createEpisodeQueue(planOf(4));
    expect([0, 1, 0, 1].map((worker) => queue.take(worker)?.ordinal)).toEqual([0, 1, 2, 3]);
  });

  it('with scene affinity a worker at the end of the plan goes to the longest gap', () => {
    const queue = createEpisodeQueue(planOf(4), 'scene');
    // Halves the gap behind worker 0, and goes on to the last one.
    expect([0, 1, 1, 1].map((worker) => queue.take(worker)?.ordinal)).toEqual([0, 2, 3, 1]);
  });

  it('with scene affinity the first of two equally long gaps is split', () => {
    const queue = createEpisodeQueue(planOf(8), 'scene');
    // Worker 1 halves 1 to 7, which leaves 1 to 3 and 5 to 7.
    expect([0, 1, 2].map((worker) => queue.take(worker)?.ordinal)).toEqual([0, 4, 2]);
  });

  it('with scene affinity a where it was, and the longest gap is split', () => {
    const queue = createEpisodeQueue(planOf(12), 'scene');
    const taken: (readonly [number, number | undefined])[] = [];
    for (let turn = 0; turn < 6; turn++)
      for (const worker of [0, 1]) taken.push([worker, queue.take(worker)?.ordinal]);
    expect(taken.filter(([worker]) => worker === 0).map(([, ordinal]) => ordinal)).toEqual([
      0, 1, 2, 3, 4, 5,
    ]);
    expect(taken.filter(([worker]) => worker === 1).map(([, ordinal]) => ordinal)).toEqual([
      6, 7, 8, 9, 10, 11,
    ]);
  });

  it('with scene affinity every episode is still handed out exactly once', () => {
    const queue = createEpisodeQueue(planOf(100), 'scene');
    let turn = 0;
    const taken = ordinals(100, () => queue.take(Math.floor(turn++ / 7) % 3));
    expect([...taken].sort((a, b) => Number(a) - Number(b))).toEqual(
      planOf(100).map((episode) => episode.ordinal),
    );
    expect(queue.take(0)).toBeUndefined();
  });
});
