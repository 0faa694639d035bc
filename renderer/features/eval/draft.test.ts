// The form and the configuration say the same, and mistakes are shown at their field.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandLineOf, shellLine } from '#contract/command-line.ts';
import { evalConfig } from '#contract/eval-config.ts';
import { configOfDraft, draftOfConfig, draftOfStored, emptyDraft, rangesOf, type Draft } from './draft.ts';

const read = (change: Partial<Draft>, workers = 4) =>
  configOfDraft('g', { ...emptyDraft, ...change }, workers);

describe('draft', () => {
  it('is the contract’s defaults when nothing was changed, with the suggested workers', () => {
    expect(read({}).config).toEqual({ ...evalConfig.parse({ graph: 'g' }), workerCount: 4 });
    expect(read({ workerCount: '2' }).config?.workerCount).toBe(2);
  });

  it.each([
    [{ mode: 'count', count: '20' } as const, 20],
    [{ mode: 'range', range: '2-4, 9' } as const, { indices: [2, 3, 4, 9] }],
    [{ mode: 'sample', sample: '5', sampleSeed: '3' } as const, { sample: 5, seed: 3 }],
    [{ mode: 'ids', ids: 'a, b  a' } as const, { ids: ['a', 'b'] }],
  ])('reads the episodes of %j', (change, episodes) => {
    expect(read(change)).toMatchObject({ problems: {}, config: { episodes } });
  });

  it.each([
    [{ mode: 'count', count: '0' } as const, 'count'],
    [{ mode: 'count', count: 'many' } as const, 'count'],
    [{ mode: 'range', range: '9-2' } as const, 'range'],
    [{ mode: 'ids', ids: ' ' } as const, 'ids'],
    [{ mode: 'sample', sample: '5', sampleSeed: '-1' } as const, 'sampleSeed'],
    [{ repeats: '0' }, 'repeats'],
    [{ workerCount: '1000' }, 'workerCount'],
    [{ perStepBudgetSec: 'soon' }, 'perStepBudgetSec'],
    [{ seed: '-1' }, 'seed'],
    [{ attempts: '11' }, 'attempts'],
    [{ flushTimeoutMs: '-1' }, 'flushTimeoutMs'],
    [{ recording: 'sample', recordingCount: '0' } as const, 'recordingCount'],
  ])('shows the mistake in %j at its field', (change, field) => {
    const result = read(change);
    expect(result.config).toBeNull();
    expect(Object.keys(result.problems)).toEqual([field]);
  });

  it('takes a run’s configuration over unchanged', () => {
    const config = evalConfig.parse({
      graph: 'g',
      selectors: { split: 'val' },
      episodes: { indices: [1, 2, 3, 8] },
      workerCount: 3,
      recording: 'sample:7',
      failOn: 0.2,
      batching: { flushPolicy: 'rendezvous', maxBatch: 8 },
      tags: ['a', 'b'],
    });
    expect(configOfDraft('g', draftOfConfig(config), 1).config).toEqual(config);
    expect(shellLine(commandLineOf(config))).toContain('--range 1-3,8');
  });

  it('reads whatever was remembered without failing', () => {
    fc.assert(
      fc.property(fc.anything(), (stored) => {
        const draft = draftOfStored(stored) ?? emptyDraft;
        expect(Object.keys(draft).toSorted()).toEqual(Object.keys(emptyDraft).toSorted());
      }),
      { seed: 9 },
    );
    expect(draftOfStored({ count: '7', tags: 3, retryOn: {} })).toEqual({ ...emptyDraft, count: '7' });
  });

  it('joins indices to ranges', () => {
    expect(rangesOf([0, 1, 2, 7, 9, 10])).toBe('0-2, 7, 9-10');
  });
});
