// Charts draw a bounded number of points that still tell the truth.
import { describe, expect, it } from 'vitest';
import type { EpisodeRow, MetricValue } from '#contract/run.ts';
import { throughputOfRows, addSample, throughputOfSamples, type LiveSample } from '../../store/throughput.ts';
import { greatestPoints, histogram, metricSeries, stepValues, windowOf } from './series.ts';

const rowOf = (ordinal: number, value: MetricValue, change: Partial<EpisodeRow> = {}): EpisodeRow => ({
  ordinal,
  key: '',
  episodeIndex: ordinal,
  episodeId: null,
  sceneId: null,
  instruction: null,
  repeat: 0,
  status: 'completed',
  attempts: 1,
  metrics: { m: value },
  steps: ordinal,
  durationMs: 1000,
  worker: 0,
  limit: null,
  errorCode: null,
  errorMessage: null,
  retried: false,
  ...change,
});

describe('metric over finished episodes', () => {
  it('gives the running mean in plan order and leaves out what has no number', () => {
    const rows = [
      rowOf(0, 1),
      rowOf(1, null),
      rowOf(2, 'nan'),
      rowOf(3, 0),
      rowOf(4, 1, { status: 'running' }),
    ];
    expect(metricSeries(rows, 'm')).toEqual([
      { at: 1, movingMean: 1, runningMean: 1 },
      { at: 2, movingMean: 0.5, runningMean: 0.5 },
    ]);
  });

  it('never gives more than the bound and ends at the true mean', () => {
    const rows = Array.from({ length: 12_345 }, (_unused, ordinal) => rowOf(ordinal, ordinal % 3));
    const points = metricSeries(rows, 'm');
    expect(points.length).toBeLessThanOrEqual(greatestPoints);
    expect(points.at(-1)?.at).toBe(12_345);
    expect(points.at(-1)?.runningMean).toBeCloseTo(
      rows.reduce((sum, row) => sum + Number(row.metrics['m']), 0) / 12_345,
      10,
    );
  });
});

describe('moving mean', () => {
  it('shows the last part of a run that drifts', () => {
    const rows = Array.from({ length: 1000 }, (_unused, ordinal) => rowOf(ordinal, ordinal < 900 ? 1 : 0));
    const last = metricSeries(rows, 'm').at(-1);
    expect(windowOf(1000)).toBe(50);
    expect(last).toEqual({ at: 1000, movingMean: 0, runningMean: 0.9 });
  });
});

describe('histogram', () => {
  it('counts everything once, whole numbers in bins of their own', () => {
    expect(histogram([0, 1, 1, 3])).toEqual([
      { from: 0, to: 0, count: 1 },
      { from: 1, to: 1, count: 2 },
      { from: 2, to: 2, count: 0 },
      { from: 3, to: 3, count: 1 },
    ]);
    const values = Array.from({ length: 500 }, (_unused, at) => Math.sin(at));
    expect(histogram(values).reduce((sum, bin) => sum + bin.count, 0)).toBe(500);
    expect(histogram([2.5, 2.5]).reduce((sum, bin) => sum + bin.count, 0)).toBe(2);
    expect(histogram([])).toEqual([]);
    const steps = Array.from({ length: 400 }, (_unused, at) => at * 1.2);
    expect(
      histogram(steps)
        .slice(0, 3)
        .map((bin) => bin.from),
    ).toEqual([0, 50, 100]);
  });

  it('gives whole numbers whole edges that do not overlap', () => {
    const bins = histogram(Array.from({ length: 120 }, (_unused, at) => at));
    expect(bins.slice(0, 2)).toEqual([
      { from: 0, to: 19, count: 20 },
      { from: 20, to: 39, count: 20 },
    ]);
    expect(bins.every(({ from, to }) => Number.isInteger(from) && Number.isInteger(to))).toBe(true);
  });

  it('takes steps of finished episodes only', () => {
    expect(stepValues([rowOf(7, 1), rowOf(9, 1, { status: 'pending', steps: null })])).toEqual([7]);
  });
});

describe('throughput', () => {
  it('comes from the rows’ own times where they are known', () => {
    const start = Date.parse('2026-01-01T00:00:00Z');
    const rows = Array.from({ length: 60 }, (_unused, at) =>
      rowOf(at, 1, { startedAt: new Date(start + at * 1000).toISOString(), durationMs: 1000 }),
    );
    const points = throughputOfRows(rows, 6);
    expect(points).toHaveLength(6);
    expect(points?.reduce((sum, point) => sum + point.perMinute, 0)).toBeCloseTo(360, 6);
    expect(throughputOfRows([rowOf(0, 1)], 6)).toBeNull();
  });

  it('keeps a bounded number of live samples over the whole run', () => {
    let samples: readonly LiveSample[] = [];
    for (let second = 0; second < 5000; second += 1)
      samples = addSample(samples, { elapsedMs: second * 1000, finished: second });
    expect(samples.length).toBeLessThanOrEqual(401);
    expect(samples[0]?.elapsedMs).toBe(0);
    expect(throughputOfSamples(samples).every((point) => Math.abs(point.perMinute - 60) < 1e-6)).toBe(true);
  });
});
