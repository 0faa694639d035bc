// One piece of work for all who ask the same; nobody's leaving takes it from the others.
import { describe, expect, it } from 'vitest';
import { SharedWork } from './shared-work.ts';

/** Work that ends when the test says so, and counts how often it was begun and aborted. */
function controlled() {
  const begun: { readonly signal: AbortSignal; readonly finish: PromiseWithResolvers<number> }[] = [];
  const work = (signal: AbortSignal): Promise<number> => {
    const finish = Promise.withResolvers<number>();
    signal.addEventListener('abort', () => finish.reject(signal.reason));
    begun.push({ signal, finish });
    return finish.promise;
  };
  return { begun, work };
}

describe('shared work', () => {
  it('is begun once for all who ask the same, and kept', async () => {
    const shared = new SharedWork<number>();
    const { begun, work } = controlled();
    const asked = [shared.ask('a', work), shared.ask('a', work)];
    begun[0]?.finish.resolve(7);
    expect(await Promise.all(asked)).toEqual([7, 7]);
    expect(await shared.ask('a', work)).toBe(7);
    expect(begun).toHaveLength(1);
  });

  it('goes on for those who wait when the one who began it leaves', async () => {
    const shared = new SharedWork<number>();
    const { begun, work } = controlled();
    const first = new AbortController();
    const leaving = shared.ask('a', work, first.signal);
    const staying = shared.ask('a', work, new AbortController().signal);
    first.abort();
    await expect(leaving).rejects.toMatchObject({ code: 'aborted' });
    expect(begun[0]?.signal.aborted).toBe(false);
    begun[0]?.finish.resolve(7);
    expect(await staying).toBe(7);
  });

  it('is aborted when the last one has left, and begun anew for the next', async () => {
    const shared = new SharedWork<number>();
    const { begun, work } = controlled();
    const only = new AbortController();
    const leaving = shared.ask('a', work, only.signal);
    only.abort();
    await expect(leaving).rejects.toMatchObject({ code: 'aborted' });
    expect(begun[0]?.signal.aborted).toBe(true);
    const next = shared.ask('a', work);
    begun[1]?.finish.resolve(8);
    expect(await next).toBe(8);
  });

  it('does not keep a failure', async () => {
    const shared = new SharedWork<number>();
    const { begun, work } = controlled();
    const failing = shared.ask('a', work);
    begun[0]?.finish.reject(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    expect(shared.has('a')).toBe(false);
    const next = shared.ask('a', work);
    begun[1]?.finish.resolve(9);
    expect(await next).toBe(9);
  });
});
