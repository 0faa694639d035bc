// A pair opens with the baseline left, unless only the other side can be watched.
import { describe, expect, it } from 'vitest';
import { replayOfFlip } from './replay-of-flip.ts';

const flip = { baselineOrdinal: 3, otherOrdinal: 5, baselineRecorded: true, otherRecorded: true };

describe('opening a pair', () => {
  it('puts the baseline left', () => {
    const place = { run: 'a', episode: 3, other: 'b', otherEpisode: 5 };
    expect(replayOfFlip(flip, 'a', 'b')).toEqual(place);
    expect(replayOfFlip({ ...flip, otherRecorded: false }, 'a', 'b')).toEqual(place);
    expect(replayOfFlip({ ...flip, baselineRecorded: false, otherRecorded: false }, 'a', 'b')).toEqual(place);
  });

  it('puts the only recorded side left', () => {
    expect(replayOfFlip({ ...flip, baselineRecorded: false }, 'a', 'b')).toEqual({
      run: 'b',
      episode: 5,
      other: 'a',
      otherEpisode: 3,
    });
  });
});
