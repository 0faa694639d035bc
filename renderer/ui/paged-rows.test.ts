// Pages are fetched as they are looked at and stay drawn while newer ones come.
import { describe, expect, it } from 'vitest';
import { errorInfoOf, RequestError } from '../api/request-error.ts';
import { PagedRows } from './paged-rows.ts';

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

describe('PagedRows', () => {
  it('fetches only what is looked at, once', async () => {
    const asked: number[] = [];
    const list = new PagedRows(async (offset, limit) => {
      asked.push(offset);
      return { rows: Array.from({ length: limit }, (_unused, at) => offset + at), total: 1000 };
    }, 100);
    list.show(0, 40);
    list.show(0, 40);
    await settle();
    list.show(395, 420);
    await settle();
    expect(asked).toEqual([0, 300, 400]);
    expect([list.get(0), list.get(399), list.get(150), list.total]).toEqual([0, 399, undefined, 1000]);
  });

  it('keeps the rows drawn while newer ones come, and drops an answer to an older question', async () => {
    let generation = 1;
    const gates: (() => void)[] = [];
    const list = new PagedRows<string>(async (_offset, _limit) => {
      const said = `g${generation}`;
      await new Promise<void>((resolve) => gates.push(resolve));
      return { rows: [said], total: 1 };
    }, 10);
    list.show(0, 5);
    gates[0]?.();
    await settle();
    expect(list.get(0)).toBe('g1');
    generation = 2;
    list.invalidate();
    generation = 3;
    list.invalidate();
    expect(list.get(0)).toBe('g1');
    gates[2]?.();
    await settle();
    gates[1]?.();
    await settle();
    expect(list.get(0)).toBe('g3');
  });

  it('keeps the failure and tries again when looked at again', async () => {
    let fails = true;
    const list = new PagedRows<number>(async () => {
      if (fails) throw new RequestError(errorInfoOf('io_failed', 'The index cannot be read.'));
      return { rows: [1], total: 1 };
    });
    list.show(0, 1);
    await settle();
    expect(list.error?.code).toBe('io_failed');
    fails = false;
    list.show(0, 1);
    await settle();
    expect(list.error).toBeNull();
    expect(list.get(0)).toBe(1);
  });

  it('forgets rows behind a shorter end', async () => {
    let total = 3;
    const list = new PagedRows<number>(async () => ({ rows: [1, 2, 3].slice(0, total), total }));
    list.show(0, 2);
    await settle();
    total = 1;
    list.invalidate();
    await settle();
    expect([list.total, list.get(0), list.get(2)]).toEqual([1, 1, undefined]);
  });
});
