import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import { RunQueue } from './run-queue.ts';

function storage(initial: readonly string[] = []) {
  let stored = initial;
  let isFull = false;
  return {
    read: () => Promise.resolve(stored),
    write: (runIds: readonly string[]) => {
      if (isFull) return Promise.reject(new StudioError('disk_full', 'no space is left'));
      stored = runIds;
      return Promise.resolve();
    },
    get stored() {
      return stored;
    },
    fill: () => void (isFull = true),
    empty: () => void (isFull = false),
  };
}

describe('queue of runs', () => {
  it('keeps its order across restarts', async () => {
    const kept = storage();
    const queue = new RunQueue(kept, () => undefined);
    await Promise.all([queue.add('a'), queue.add('b'), queue.add('c')]);
    await queue.reorder(['c', 'a', 'b']);
    await queue.remove('a');
    const later = new RunQueue(kept, () => undefined);
    await later.restore();
    expect(later.runIds).toEqual(['c', 'b']);
  });

  it('tells each change after it is stored', async () => {
    const kept = storage();
    const told: (readonly string[])[] = [];
    const queue = new RunQueue(kept, (runIds) => told.push([...runIds, `stored ${kept.stored.length}`]));
    await queue.add('a');
    await queue.add('b');
    expect(told).toEqual([
      ['a', 'stored 1'],
      ['a', 'b', 'stored 2'],
    ]);
  });

  it('refuses an order of other runs', async () => {
    const queue = new RunQueue(storage(['a', 'b']), () => undefined);
    await queue.restore();
    for (const wanted of [['a'], ['a', 'a'], ['a', 'c'], ['a', 'b', 'c']]) {
      await expect(queue.reorder(wanted)).rejects.toMatchObject({ code: 'conflict' });
    }
    expect(queue.runIds).toEqual(['a', 'b']);
  });

  it('a change that cannot be stored does not count, and does not stop the next one', async () => {
    const kept = storage(['a']);
    const queue = new RunQueue(kept, () => undefined);
    await queue.restore();
    kept.fill();
    await expect(queue.add('b')).rejects.toMatchObject({ code: 'disk_full' });
    expect(queue.runIds).toEqual(['a']);
    kept.empty();
    await queue.add('c');
    expect(queue.runIds).toEqual(['a', 'c']);
  });
});
