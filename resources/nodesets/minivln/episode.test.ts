import { createRandom } from 'agentcanvas';
import { describe, expect, it } from 'vitest';
import { createEpisode, plausibleRoutes, stepBudget, successRadius, type Episode } from './episode.ts';
import { distanceBetween, distanceToBox, lengthOf } from './geometry.ts';
import { createLayout, roomAt } from './layout.ts';
import { createSession } from './session.ts';
import {
  episodeIdOf,
  parseEpisodeId,
  requireIndex,
  requireSplit,
  sceneOf,
  splitNames,
  splits,
  type SplitName,
} from './splits.ts';

const sampleSize = 300;

/** Evenly over the split, so that scenes and difficulties are mixed as they are in it. */
function sampled(split: SplitName, count: number): Episode[] {
  return Array.from({ length: count }, (_unused, i) =>
    createEpisode({ split, index: Math.floor((i * splits[split].episodes) / count) }),
  );
}

const samples = new Map(splitNames.map((split) => [split, sampled(split, sampleSize)]));

describe.each(splitNames)('episodes of %s', (split) => {
  const episodes = samples.get(split)!;

  it('are reachable: the comfortable path is free all the way and the shortest length is finite', () => {
    for (const { layout, start, goal, referencePath, shortestLength } of episodes) {
      expect(layout.navigation.isFree(start.x, start.y)).toBe(true);
      expect(layout.navigation.isFree(goal.x, goal.y)).toBe(true);
      expect(shortestLength).toBeLessThan(Infinity);
      expect(referencePath[0]).toMatchObject({ x: start.x, y: start.y });
      expect(distanceBetween(referencePath.at(-1)!, goal)).toBeLessThan(1e-9);
      for (const point of referencePath) expect(layout.navigation.isFree(point.x, point.y)).toBe(true);
    }
  });

  it('are not trivial: metres away, in another room, with at least four possible goals', () => {
    for (const { layout, start, goal, shortestLength, doors, referencePath } of episodes) {
      expect(shortestLength).toBeGreaterThan(3);
      expect(shortestLength).toBeLessThan(lengthOf(referencePath) + 1e-9);
      expect(doors.length).toBeGreaterThanOrEqual(1);
      expect(roomAt(layout, goal.x, goal.y)).not.toBe(roomAt(layout, start.x, start.y));
    }
    for (const { layout, start } of episodes.slice(0, 60))
      expect(plausibleRoutes(layout, start).length).toBeGreaterThanOrEqual(4);
  });

  it('keep every other landmark out of the success radius', () => {
    for (const { layout, goal, landmark } of episodes) {
      const target = layout.landmarks[landmark]!;
      expect(distanceToBox(target.footprint, goal.x, goal.y)).toBeLessThan(0.51);
      const field = layout.navigation.fieldTo(goal);
      for (const other of layout.landmarks) {
        if (other === target || other.room !== target.room) continue;
        // Nobody within reach of the other piece is within the radius of the goal.
        expect(distanceToBox(other.footprint, goal.x, goal.y)).toBeGreaterThan(successRadius + 0.5);
      }
      expect(field.distance(goal.x, goal.y)).toBe(0);
    }
  });

  it('have ids that name them, and are not ordered by difficulty', () => {
    for (const episode of episodes)
      expect(parseEpisodeId(episode.episodeId)).toEqual({ split, index: episode.index });
    const lengths = episodes.map((episode) => episode.shortestLength);
    expect(Math.abs(correlation(lengths))).toBeLessThan(0.2);
  });
});

describe('splits', () => {
  it('are the same whenever and in whatever order they are made', () => {
    const addresses = [11, 4, 907, 4, 11].map((index) => ({ split: 'val_unseen', index }) as const);
    const plain = addresses.map((address) => JSON.stringify(summaryOf(createEpisode(address))));
    const cached = new Map<number, ReturnType<typeof createLayout>>();
    const layoutOf = (seed: number) => cached.get(seed) ?? cached.set(seed, createLayout(seed)).get(seed)!;
    const again = addresses
      .toReversed()
      .map((address) => JSON.stringify(summaryOf(createEpisode(address, layoutOf))));
    expect(again.toReversed()).toEqual(plain);
    expect(plain[0]).toBe(plain[4]);
    expect(plain[0]).not.toBe(plain[1]);
  });

  it('stay as published: a change of the generator must show here', () => {
    const { instruction, shortestLength, start } = createEpisode({ split: 'val_unseen', index: 123 });
    expect({
      instruction,
      shortestLength: shortestLength.toFixed(6),
      heading: start.heading,
    }).toMatchInlineSnapshot(`
      {
        "heading": 19,
        "instruction": "Turn left and walk through the yellow door into the lounge. Turn left and walk into the bedroom. Stop at the green chair.",
        "shortestLength": "7.429248",
      }
    `);
  });

  it('share apartments between train and val_seen, and none with val_unseen', () => {
    const scenes = (split: SplitName): Set<string> =>
      new Set(
        Array.from({ length: splits[split].episodes }, (_unused, index) => sceneOf({ split, index }).sceneId),
      );
    const [train, seen, unseen] = [scenes('train'), scenes('val_seen'), scenes('val_unseen')];
    expect([...seen].every((scene) => train.has(scene) || sceneExists(scene))).toBe(true);
    expect([...seen].filter((scene) => train.has(scene)).length).toBeGreaterThan(0.99 * seen.size);
    expect([...unseen].some((scene) => train.has(scene))).toBe(false);
    const seeds = (split: SplitName): number[] =>
      Array.from(
        { length: splits[split].episodes },
        (_unused, index) => sceneOf({ split, index }).layoutSeed,
      );
    const trained = new Set(seeds('train'));
    expect(seeds('val_unseen').some((seed) => trained.has(seed))).toBe(false);
  });

  it('have no path twice', () => {
    const starts = [...samples.values()]
      .flat()
      .map(({ sceneId, start }) => `${sceneId} ${start.x} ${start.y}`);
    expect(new Set(starts).size).toBe(starts.length);
  });

  it('refuse what does not exist and say what does', () => {
    expect(() => requireSplit('test')).toThrow('choose one of train, val_seen, val_unseen');
    expect(() => requireIndex('val_unseen', 1839)).toThrow('val_unseen has 1839 episodes, 0 to 1838');
    expect(() => requireIndex('val_unseen', 1.5)).toThrow('there is no 1.5');
    expect(() => parseEpisodeId('xx_000001')).toThrow('ids look like tr_000000');
    expect(() => parseEpisodeId('vs_001000')).toThrow('val_seen has 1000 episodes');
    expect(episodeIdOf({ split: 'val_unseen', index: 123 })).toBe('vu_000123');
  });
});

describe('scores', () => {
  it('are perfect for the expert on 200 unseen episodes', () => {
    const session = createSession({ split: 'val_unseen', index: 0 });
    let worstSpl = 1;
    for (let i = 0; i < 200; i++) {
      session.select({ split: 'val_unseen', index: i * 9 + 5 });
      const running = session.peek();
      for (let step = 0; step < stepBudget && !running.done; step++) running.step(running.expert());
      const metrics = running.metrics();
      expect({ ...metrics, id: running.episode.episodeId }).toMatchObject({
        success: 1,
        oracle_success: 1,
        id: running.episode.episodeId,
      });
      expect(metrics['ndtw']).toBeGreaterThan(0.7);
      worstSpl = Math.min(worstSpl, metrics['spl'] ?? 0);
    }
    expect(worstSpl).toBeGreaterThan(0.9);
  });

  it('are near zero for random actions', () => {
    const session = createSession({ split: 'val_unseen', index: 0 });
    const random = createRandom(7);
    let successes = 0;
    for (let i = 0; i < 200; i++) {
      session.select({ split: 'val_unseen', index: i * 9 });
      const running = session.peek();
      while (running.steps < stepBudget && !running.done) {
        const draw = random.next();
        running.step(draw < 0.02 ? 0 : draw < 0.7 ? 1 : draw < 0.85 ? 2 : 3);
      }
      successes += running.metrics()['success'] ?? 0;
    }
    expect(successes / 200).toBeLessThan(0.05);
  });

  it('need STOP: standing at the goal without it is oracle success only', () => {
    const session = createSession({ split: 'val_unseen', index: 40 });
    const running = session.peek();
    for (let action = running.expert(); action !== 0; action = running.expert()) running.step(action);
    expect(running.metrics()).toMatchObject({ success: 0, spl: 0, sdtw: 0, oracle_success: 1 });
    running.step(0);
    expect(running.metrics()).toMatchObject({ success: 1, oracle_success: 1 });
  });
});

function summaryOf({ layout, ...rest }: Episode): unknown {
  return { ...rest, solids: layout.solids, doors: layout.doors };
}

function sceneExists(scene: string): boolean {
  return /^train_\d{4}$/.test(scene) && Number(scene.slice(6)) < splits.train.layouts;
}

/** Pearson correlation of values with their position. */
function correlation(values: readonly number[]): number {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const middle = (n - 1) / 2;
  const covariance = values.reduce((sum, value, i) => sum + (value - mean) * (i - middle), 0);
  const spread = (items: number[]): number => Math.sqrt(items.reduce((sum, item) => sum + item * item, 0));
  return (
    covariance / (spread(values.map((value) => value - mean)) * spread(values.map((_v, i) => i - middle)))
  );
}
