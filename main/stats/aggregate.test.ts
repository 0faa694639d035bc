// Summaries: both ways of counting, what failures may never do, and agreement of live and final numbers.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpisodeAttempt, EpisodeOutcome, MetricValue } from '../contract/run.ts';
import { headlineEstimate, headlineMetric, summarise, summariseGroups } from './aggregate.ts';
import { meanTInterval, wilsonInterval } from './intervals.ts';
import { createLiveAggregate } from './live-aggregate.ts';
import { pathLength, sampleRow, spl, success } from './testing/sample-rows.ts';

const definitions = [success, spl, pathLength];

const metricValue = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom<MetricValue>('nan', 'inf', '-inf', null) },
);
const outcome = fc.constantFrom<EpisodeOutcome>(
  'completed',
  'completed',
  'completed',
  'error',
  'timeout',
  'died',
  'no_verdict',
);
const rowsOf = (repeats: number) =>
  fc
    .array(
      fc.record({
        won: fc.boolean(),
        splValue: metricValue,
        length: metricValue,
        status: outcome,
        steps: fc.nat(200),
      }),
      { minLength: 1, maxLength: 60 },
    )
    .map((cases) =>
      cases.map(({ won, splValue, length, status, steps }, ordinal) =>
        sampleRow({
          ordinal,
          episodeId: `episode-${Math.floor(ordinal / repeats)}`,
          repeat: ordinal % repeats,
          status,
          steps,
          metrics: { success: won ? 1 : 0, spl: splValue, path_length: length },
        }),
      ),
    );

const failed = (row: EpisodeAttempt, status: EpisodeOutcome): EpisodeAttempt => ({
  ...row,
  status,
  metrics: {},
});
const headlineMean = (rows: readonly EpisodeAttempt[], index: number): number => {
  const metric = summarise({ rows, planned: rows.length, definitions }).metrics[index];
  return (metric && headlineEstimate(metric).mean) ?? 0;
};

describe('summarise', () => {
  it('gives every metric over completed and over started episodes, and leads with the second', () => {
    const rows = [
      sampleRow({ ordinal: 0, metrics: { success: 1, spl: 0.8, path_length: 4 } }),
      sampleRow({ ordinal: 1, metrics: { success: 1, spl: 0.6, path_length: 6 } }),
      sampleRow({ ordinal: 2, status: 'timeout', metrics: { success: 1 } }),
      sampleRow({ ordinal: 3, status: 'died' }),
    ];
    const summary = summarise({ rows, planned: 6, running: 1, definitions });
    expect(summary.counts).toEqual({
      planned: 6,
      completed: 2,
      error: 0,
      timeout: 1,
      died: 1,
      noVerdict: 0,
      notRun: 2,
      running: 1,
      retried: 0,
    });
    const [rate, mean, length] = summary.metrics;
    expect(rate).toMatchObject({ headline: 'started', measured: 2, of: 4, partial: true });
    expect(rate?.completed).toMatchObject({ n: 2, mean: 1, method: 'wilson', ...wilsonInterval(2, 2) });
    expect(rate?.started).toMatchObject({ n: 4, mean: 0.5, method: 'wilson', ...wilsonInterval(2, 4) });
    expect(mean?.completed.mean).toBeCloseTo(0.7, 12);
    expect(mean?.started).toMatchObject({ n: 4, method: 'bootstrap', median: 0.3 });
    expect(length).toMatchObject({ headline: 'completed_only', started: null });
    expect(length?.completed).toMatchObject({ n: 2, mean: 5 });
    expect(headlineMetric(summary)?.definition.name).toBe('success');
  });

  it('keeps "not measured" apart from 0 and leaves non-finite values out of means, counted', () => {
    const values: MetricValue[] = [0.5, null, 'nan', 'inf', 0.7];
    const rows = values.map((value, ordinal) => sampleRow({ ordinal, metrics: { spl: value } }));
    const metric = summarise({ rows, planned: 5, definitions: [spl] }).metrics[0];
    expect(metric).toMatchObject({ measured: 4, of: 5, partial: false });
    expect(metric?.completed).toMatchObject({ n: 2, mean: 0.6, nonFinite: 2 });
    expect(metric?.started).toMatchObject({ n: 3, nonFinite: 2 });
  });

  it('has no mean, not 0, when nothing was measured', () => {
    const metric = summarise({ rows: [], planned: 3, definitions: [success] }).metrics[0];
    expect(metric?.started).toMatchObject({ n: 0, mean: null, low: null, high: null, method: 'none' });
  });

  it('never lets an injected failure raise the headline', () => {
    const inject = fc.tuple(
      rowsOf(1),
      fc.nat(),
      fc.constantFrom<EpisodeOutcome>('error', 'timeout', 'died', 'no_verdict'),
    );
    fc.assert(
      fc.property(inject, ([rows, pick, status]) => {
        const victim = pick % rows.length;
        const worse = rows.map((row, index) => (index === victim ? failed(row, status) : row));
        const more = [...rows, failed(sampleRow({ ordinal: rows.length }), status)];
        for (const metric of [0, 1]) {
          expect(headlineMean(worse, metric)).toBeLessThanOrEqual(headlineMean(rows, metric) + 1e-12);
          expect(headlineMean(more, metric)).toBeLessThanOrEqual(headlineMean(rows, metric) + 1e-12);
        }
      }),
      { numRuns: 40, seed: 1 },
    );
  });

  it('counts add up and do not depend on the order of completion', () => {
    fc.assert(
      fc.property(rowsOf(2), fc.nat(20), (rows, missing) => {
        const planned = rows.length + missing;
        const forward = summarise({ rows, planned, definitions });
        expect(summarise({ rows: rows.toReversed(), planned, definitions })).toEqual(forward);
        const { completed, error, timeout, died, noVerdict, notRun } = forward.counts;
        expect(completed + error + timeout + died + noVerdict + notRun).toBe(planned);
      }),
      { numRuns: 15, seed: 2 },
    );
  });

  it('uses the bootstrap clustered by episode as soon as episodes are repeated', () => {
    const outcomes = [1, 1, 0, 1, 0, 0, 1, 1];
    const repeated = outcomes.flatMap((value, episode) =>
      [0, 1, 2].map((repeat) =>
        sampleRow({
          ordinal: episode * 3 + repeat,
          episodeId: `e${episode}`,
          repeat,
          metrics: { spl: value },
        }),
      ),
    );
    const single = outcomes.map((value, ordinal) => sampleRow({ ordinal, metrics: { spl: value } }));
    const clustered = summarise({ rows: repeated, planned: 24, definitions: [spl] }).metrics[0]?.completed;
    const plain = summarise({ rows: single, planned: 8, definitions: [spl] }).metrics[0]?.completed;
    expect(clustered?.method).toBe('bootstrap_clustered');
    // Repeats that only copy their episode add no information: the interval stays that of 8 episodes.
    expect(clustered).toMatchObject({ n: 24, mean: plain?.mean, low: plain?.low, high: plain?.high });
  });

  it('warns of constant metrics, retries, budgets, length bias and values beyond the worst', () => {
    const rows = Array.from({ length: 40 }, (_, ordinal) =>
      sampleRow({
        ordinal,
        attempt: ordinal < 2 ? 2 : 1,
        stepBudget: ordinal === 5 ? 50 : 100,
        status: ordinal < 30 ? 'completed' : 'timeout',
        steps: ordinal < 30 ? 20 : 90,
        metrics: {
          success: 1,
          spl: ordinal === 3 ? -0.5 : ordinal / 40,
          path_length: ordinal === 4 ? 'nan' : ordinal,
        },
      }),
    );
    const firstAttempts = rows.map((row) => (row.attempt > 1 ? failed(row, 'died') : row));
    const { flags } = summarise({ rows, planned: 40, definitions, firstAttempts });
    expect(flags.map(({ kind, metric }) => `${kind} ${metric ?? ''}`.trim())).toEqual([
      'constant success',
      'unmeasured success',
      'unmeasured spl',
      'worst_exceeded spl',
      'unmeasured path_length',
      'non_finite path_length',
      'length_bias',
      'retried',
      'budgets',
      'first_attempts success',
      'first_attempts spl',
    ]);
    const clean = rows
      .slice(6, 25)
      .map((row) => ({ ...row, metrics: { ...row.metrics, success: row.ordinal % 2 } }));
    expect(summarise({ rows: clean, planned: 19, definitions }).flags).toEqual([]);
  });

  it('gives the same numbers per scene', () => {
    const rows = [0, 1, 2, 3].map((ordinal) =>
      sampleRow({
        ordinal,
        sceneId: ordinal === 3 ? null : `s${ordinal % 2}`,
        metrics: { success: ordinal === 0 ? 1 : 0 },
      }),
    );
    const groups = summariseGroups({ rows, definitions: [success] });
    expect(
      groups.map(({ group, summary }) => [group, summary.counts.planned, summary.metrics[0]?.started?.mean]),
    ).toEqual([
      ['s0', 2, 0.5],
      ['s1', 1, 0],
    ]);
  });
});

describe('live numbers', () => {
  it('agree with the final summary in everything but the intervals of means', () => {
    fc.assert(
      fc.property(rowsOf(1), (rows) => {
        const live = createLiveAggregate({ definitions, planned: rows.length + 3, repeated: false });
        for (const row of rows.toReversed()) live.add(row);
        const now = live.snapshot(2);
        const final = summarise({ rows, planned: rows.length + 3, running: 2, definitions });
        expect(now.counts).toEqual(final.counts);
        expect(now.flags).toEqual(final.flags);
        now.metrics.forEach((metric, index) => {
          const same = final.metrics[index];
          for (const basis of ['completed', 'started'] as const) {
            const a = metric[basis];
            const b = same?.[basis];
            expect([a?.n, a?.nonFinite, a?.mean === null]).toEqual([b?.n, b?.nonFinite, b?.mean === null]);
            expect(a?.mean ?? 0).toBeCloseTo(b?.mean ?? 0, 10);
            const counted = b?.method === 'wilson' ? [b.low, b.high] : [a?.low, a?.high];
            expect([a?.low, a?.high]).toEqual(counted);
          }
        });
      }),
      { numRuns: 40, seed: 3 },
    );
  });

  it('give Student intervals for means, and of per-episode clusters with repeats', () => {
    const values = [0.1, 0.5, 0.4, 0.9, 0.3];
    const plain = createLiveAggregate({ definitions: [spl], planned: 5, repeated: false });
    const repeated = createLiveAggregate({ definitions: [spl], planned: 10, repeated: true });
    values.forEach((value, episode) => {
      plain.add(sampleRow({ ordinal: episode, metrics: { spl: value } }));
      for (const repeat of [0, 1]) {
        const ordinal = episode * 2 + repeat;
        repeated.add(sampleRow({ ordinal, episodeId: `e${episode}`, repeat, metrics: { spl: value } }));
      }
    });
    const expected = meanTInterval(values);
    for (const aggregate of [plain, repeated]) {
      const estimate = aggregate.snapshot(0).metrics[0]?.completed;
      expect(estimate?.method).toBe('t');
      expect(estimate?.low).toBeCloseTo(expected?.low ?? NaN, 10);
      expect(estimate?.high).toBeCloseTo(expected?.high ?? NaN, 10);
    }
  });
});
