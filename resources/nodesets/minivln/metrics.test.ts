// The metric functions against reference values made with other people's code, on R2R graphs and R2R-CE positions.
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  coverageWeightedByLengthScore,
  dynamicTimeWarping,
  normalisedDynamicTimeWarping,
  pathLength,
  successWeightedByPathLength,
  successWeightedDynamicTimeWarping,
  withoutConsecutiveDuplicates,
} from './metrics.ts';

const shared = new URL('../../../../shared/', import.meta.url);
const vectors = new URL('vectors/navigation/', shared);
const connectivity = new URL('data/r2r/connectivity/', shared);
const groundTruth = new URL(
  'data/r2r_ce/R2R_VLNCE_v1-3_preprocessed/val_unseen/val_unseen_gt.json.gz',
  shared,
);
const radius = 3;

function readJson<T>(url: URL): T {
  return JSON.parse(readFileSync(url, 'utf8')) as T;
}

type Distances = (a: string, b: string) => number;
type Edge = readonly [string, string];

/** Shortest lengths over a graph whose edges weigh the straight distance of their ends. */
function shortestDistances(
  positions: Readonly<Record<string, readonly number[]>>,
  edges: readonly Edge[],
): Distances {
  const straight = (a: string, b: string): number =>
    Math.hypot(...[0, 1, 2].map((i) => positions[a]![i]! - positions[b]![i]!));
  const neighbours = new Map<string, { to: string; length: number }[]>(
    Object.keys(positions).map((name) => [name, []]),
  );
  for (const [a, b] of edges) {
    neighbours.get(a)!.push({ to: b, length: straight(a, b) });
    neighbours.get(b)!.push({ to: a, length: straight(a, b) });
  }
  const fields = new Map<string, Map<string, number>>();
  const fieldOf = (origin: string): Map<string, number> => {
    const known = fields.get(origin);
    if (known) return known;
    const lengths = new Map([[origin, 0]]);
    const open = new Set([origin]);
    while (open.size > 0) {
      const nearest = [...open].reduce((best, name) =>
        lengths.get(name)! < lengths.get(best)! ? name : best,
      );
      open.delete(nearest);
      for (const { to, length } of neighbours.get(nearest)!) {
        if (lengths.get(nearest)! + length >= (lengths.get(to) ?? Infinity)) continue;
        lengths.set(to, lengths.get(nearest)! + length);
        open.add(to);
      }
    }
    fields.set(origin, lengths);
    return lengths;
  };
  return (a, b) => fieldOf(a).get(b) ?? Infinity;
}

interface Viewpoint {
  image_id: string;
  pose: number[];
  included: boolean;
  unobstructed: boolean[];
}

const scans = new Map<string, Distances>();
function scanDistances(scan: string): Distances {
  const known = scans.get(scan);
  if (known) return known;
  const viewpoints = readJson<Viewpoint[]>(new URL(`${scan}_connectivity.json`, connectivity));
  const positions = Object.fromEntries(
    viewpoints.filter((v) => v.included).map((v) => [v.image_id, [v.pose[3]!, v.pose[7]!, v.pose[11]!]]),
  );
  const edges = viewpoints.flatMap((a, i) =>
    viewpoints
      .filter((b, j) => j > i && a.included && b.included && a.unobstructed[j])
      .map((b): Edge => [a.image_id, b.image_id]),
  );
  const distances = shortestDistances(positions, edges);
  scans.set(scan, distances);
  return distances;
}

interface PathVector {
  scan: string;
  instr_id: string;
  reference: string[];
  predicted: string[];
  expected: Record<string, number>;
}

function scores({ scan, reference, predicted }: Omit<PathVector, 'expected' | 'instr_id'>) {
  const distance = scanDistances(scan);
  const goal = reference.at(-1)!;
  const navigationError = distance(predicted.at(-1)!, goal);
  const success = navigationError < radius;
  const comparison = { reference, predicted, distance, radius };
  const takenLength = pathLength(predicted, distance);
  return {
    navigationError,
    success,
    dtw: dynamicTimeWarping(comparison),
    ndtw: normalisedDynamicTimeWarping(comparison),
    sdtw: successWeightedDynamicTimeWarping({ ...comparison, success }),
    cls: coverageWeightedByLengthScore(comparison),
    takenLength,
    splShortest: successWeightedByPathLength({
      success,
      rulerLength: distance(predicted[0]!, goal),
      takenLength,
    }),
    splReference: successWeightedByPathLength({
      success,
      rulerLength: pathLength(reference, distance),
      takenLength,
    }),
  };
}

/** Gathers differences from reference values; a missing reference is an infinite one. */
function createLedger() {
  let largest = 0;
  let count = 0;
  return {
    note: (actual: number, wanted: number | undefined): void => {
      const gap = Math.abs(actual - (wanted ?? Infinity));
      largest = gap <= largest ? largest : gap;
      count++;
    },
    /** Not a number when nothing was compared. */
    largestGap: (): number => (count === 0 ? NaN : largest),
  };
}

describe.skipIf(!existsSync(vectors) || !existsSync(connectivity))(
  'metrics against reference implementations',
  () => {
    const valan = (): {
      vectors: PathVector[];
      duplicate_trap: PathVector & { expected_after_dedup: Record<string, number> };
    } => readJson(new URL('dtw_cls_vectors_val_unseen.json', vectors));

    it('gives the nDTW, sDTW, CLS and shortest-path SPL of google-research/valan', () => {
      const { note, largestGap } = createLedger();
      const all = valan().vectors;
      expect(all.length).toBeGreaterThan(20);
      for (const vector of all) {
        const got = scores(vector);
        const referenceLength = pathLength(vector.reference, scanDistances(vector.scan));
        note(got.dtw / referenceLength, vector.expected['dtw_over_ref_length']);
        note(got.ndtw, vector.expected['ndtw']);
        note(got.sdtw, vector.expected['sdtw']);
        note(got.cls, vector.expected['cls']);
        note(got.splShortest, vector.expected['spl']);
        note(got.takenLength, vector.expected['path_length']);
      }
      expect(largestGap()).toBeLessThanOrEqual(1e-9);
    });

    it('agrees with valan before and after consecutive duplicates are dropped', () => {
      const { note, largestGap } = createLedger();
      const { duplicate_trap: trap } = valan();
      note(scores(trap).ndtw, trap.expected['ndtw']);
      const predicted = withoutConsecutiveDuplicates(trap.predicted, (a, b) => a === b);
      note(scores({ ...trap, predicted }).ndtw, trap.expected_after_dedup['ndtw']);
      expect(largestGap()).toBeLessThanOrEqual(1e-9);
    });

    it('gives the reference-length SPL, DTW and CLS of the DUET and NavGPT evaluators', () => {
      const { note, largestGap } = createLedger();
      const all = readJson<{ vectors: PathVector[] }>(
        new URL('navgpt_duet_vectors_val_unseen.json', vectors),
      ).vectors;
      for (const vector of all) {
        const got = scores(vector);
        note(got.splReference, vector.expected['spl']);
        note(got.dtw, vector.expected['DTW']);
        note(got.ndtw, vector.expected['nDTW']);
        note(got.sdtw, vector.expected['SDTW']);
        note(got.cls, vector.expected['CLS']);
      }
      expect(largestGap()).toBeLessThanOrEqual(1e-9);
    });

    it('gives the SPL of the official R2R evaluator', () => {
      const { note, largestGap } = createLedger();
      interface Trajectory {
        scan: string;
        start: string;
        goal: string;
        trajectory: [string, number, number][];
        expected: Record<string, number>;
      }
      const all = readJson<{ vectors: Trajectory[] }>(
        new URL('r2r_eval_vectors_val_unseen.json', vectors),
      ).vectors;
      for (const { scan, start, goal, trajectory, expected } of all) {
        const distance = scanDistances(scan);
        const visited = trajectory.map(([name]) => name);
        const takenLength = pathLength(visited, distance);
        const success = distance(visited.at(-1)!, goal) < radius;
        note(takenLength, expected['trajectory_length']);
        note(
          successWeightedByPathLength({ success, rulerLength: distance(start, goal), takenLength }),
          expected['spl'],
        );
      }
      expect(largestGap()).toBeLessThanOrEqual(1e-9);
    });

    it('gives the literals that the unit tests of valan assert', () => {
      const { note, largestGap } = createLedger();
      const vector = readJson<{
        positions: Record<string, number[]>;
        edges: Edge[];
        reference: string[];
        predicted: string[];
        computed_with_reference_functions: Record<string, number>;
      }>(new URL('valan_unit_test_vector.json', vectors));
      const distance = shortestDistances(vector.positions, vector.edges);
      const comparison = { reference: vector.reference, predicted: vector.predicted, distance, radius };
      const expected = vector.computed_with_reference_functions;
      const takenLength = pathLength(vector.predicted, distance);
      note(normalisedDynamicTimeWarping(comparison), expected['ndtw']);
      note(coverageWeightedByLengthScore(comparison), expected['cls']);
      const rulerLength = distance(vector.predicted[0]!, vector.reference.at(-1)!);
      note(successWeightedByPathLength({ success: true, rulerLength, takenLength }), expected['spl']);
      expect(largestGap()).toBeLessThanOrEqual(1e-9);
    });
  },
);

describe.skipIf(!existsSync(vectors) || !existsSync(groundTruth))('metrics on continuous positions', () => {
  it('gives the exact nDTW of VLN-CE', () => {
    const { note, largestGap } = createLedger();
    interface Continuous {
      episode_id: string;
      predicted: number[][];
      expected: { ndtw_exact: number; path_length: number };
    }
    const truth = JSON.parse(gunzipSync(readFileSync(groundTruth)).toString()) as Record<
      string,
      { locations: number[][] }
    >;
    const all = readJson<{ vectors: Continuous[] }>(new URL('r2rce_ndtw_val_unseen.json', vectors)).vectors;
    expect(all.length).toBeGreaterThan(10);
    const distance = (a: number[], b: number[]): number => Math.hypot(...a.map((value, i) => value - b[i]!));
    for (const { episode_id, predicted, expected } of all) {
      const reference = truth[episode_id]!.locations;
      note(normalisedDynamicTimeWarping({ reference, predicted, distance, radius }), expected.ndtw_exact);
      note(pathLength(predicted, distance), expected.path_length);
    }
    expect(largestGap()).toBeLessThanOrEqual(1e-9);
  });
});

describe('metrics', () => {
  const distance = (a: number, b: number): number => Math.abs(a - b);

  it('score a perfect path with one and a failed one with zero', () => {
    const reference = [0, 1, 2, 3];
    expect(normalisedDynamicTimeWarping({ reference, predicted: reference, distance, radius: 1 })).toBe(1);
    expect(coverageWeightedByLengthScore({ reference, predicted: reference, distance, radius: 1 })).toBe(1);
    expect(
      successWeightedDynamicTimeWarping({
        reference,
        predicted: reference,
        distance,
        radius: 1,
        success: false,
      }),
    ).toBe(0);
    expect(successWeightedByPathLength({ success: false, rulerLength: 3, takenLength: 3 })).toBe(0);
  });

  it('charge a detour by the ruler and never reward a shorter path', () => {
    expect(successWeightedByPathLength({ success: true, rulerLength: 3, takenLength: 6 })).toBe(0.5);
    expect(successWeightedByPathLength({ success: true, rulerLength: 3, takenLength: 2 })).toBe(1);
    expect(successWeightedByPathLength({ success: true, rulerLength: 0, takenLength: 0 })).toBe(1);
  });

  it('align both ends: standing still at the start costs every reference point', () => {
    expect(dynamicTimeWarping({ reference: [0, 1, 2], predicted: [0], distance })).toBe(3);
  });
});
