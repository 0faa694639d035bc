import { PerformanceObserver, constants } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { allocateReceived } from './received-memory.ts';

/** Collections of a kind that run while `work` does. */
async function collectionsDuring(work: () => void): Promise<readonly number[]> {
  const kinds: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) kinds.push(kindOf(entry));
  });
  observer.observe({ entryTypes: ['gc'] });
  work();
  await new Promise((resolve) => setTimeout(resolve, 100));
  observer.disconnect();
  return kinds;
}

function kindOf(entry: object): number {
  const detail: unknown = 'detail' in entry ? entry.detail : undefined;
  return typeof detail === 'object' && detail !== null && 'kind' in detail ? Number(detail.kind) : 0;
}

it('memory of arrays that were dropped is freed by young collections, before a full one is due', async () => {
  const kinds = await collectionsDuring(() => {
    for (let count = 0; count < 640; count++) allocateReceived(100_000).fill(count);
  });
  const young = kinds.filter((kind) => kind === constants.NODE_PERFORMANCE_GC_MINOR).length;
  const full = kinds.filter((kind) => kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
  expect(young).toBeGreaterThanOrEqual(14);
  expect(full).toBeLessThan(young / 4);
});

it('memory that is kept stays as it was written', () => {
  const kept = Array.from({ length: 200 }, (_, index) => allocateReceived(100_000).fill(index));
  expect(kept.every((bytes, index) => bytes.every((byte) => byte === index))).toBe(true);
});
