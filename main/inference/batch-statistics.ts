// Figures of one key, kept in fixed memory: sizes of all batches, times of the last ones, throughput of the last seconds.
import type { BatchView } from '../contract/run.ts';

const keptTimes = 512;
const throughputWindowMs = 10_000;
const bucketMs = 1_000;

interface Bucket {
  readonly startMs: number;
  samples: number;
}

export class BatchStatistics {
  readonly #sizes: number[] = [];
  readonly #waitMs = new Ring();
  readonly #forwardMs = new Ring();
  readonly #buckets: Bucket[] = [];
  #firstMs: number | undefined;
  #batches = 0;
  #samples = 0;

  batch(size: number): void {
    while (this.#sizes.length < size) this.#sizes.push(0);
    this.#sizes[size - 1] = (this.#sizes[size - 1] ?? 0) + 1;
    this.#batches++;
    this.#samples += size;
  }

  waited(durationMs: number): void {
    this.#waitMs.push(durationMs);
  }

  answered(size: number, times: { readonly nowMs: number; readonly forwardMs: number }): void {
    this.#forwardMs.push(times.forwardMs);
    this.#firstMs ??= times.nowMs - times.forwardMs;
    const last = this.#buckets.at(-1);
    if (last && times.nowMs < last.startMs + bucketMs) last.samples += size;
    else this.#buckets.push({ startMs: times.nowMs, samples: size });
    this.#forget(times.nowMs);
  }

  view(
    nowMs: number,
  ): Pick<BatchView, 'batches' | 'samples' | 'sizes' | 'waitMs' | 'forwardMs' | 'samplesPerSecond'> {
    this.#forget(nowMs);
    return {
      batches: this.#batches,
      samples: this.#samples,
      sizes: [...this.#sizes],
      waitMs: this.#waitMs.quantiles(),
      forwardMs: this.#forwardMs.quantiles(),
      samplesPerSecond: this.#samplesPerSecond(nowMs),
    };
  }

  #samplesPerSecond(nowMs: number): number | null {
    if (this.#firstMs === undefined) return null;
    const spanMs = Math.min(throughputWindowMs, nowMs - this.#firstMs);
    const samples = this.#buckets.reduce((sum, bucket) => sum + bucket.samples, 0);
    return spanMs <= 0 ? null : (samples / spanMs) * 1000;
  }

  #forget(nowMs: number): void {
    while (this.#buckets[0] && this.#buckets[0].startMs < nowMs - throughputWindowMs) this.#buckets.shift();
  }
}

class Ring {
  readonly #values = new Float64Array(keptTimes);
  #count = 0;

  push(value: number): void {
    this.#values[this.#count++ % keptTimes] = value;
  }

  /** Nearest rank; null before the first value. */
  quantiles(): { median: number; p95: number } | null {
    const known = Math.min(this.#count, keptTimes);
    if (known === 0) return null;
    const sorted = this.#values.slice(0, known).sort();
    const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * known) - 1)] ?? 0;
    return { median: at(0.5), p95: at(0.95) };
  }
}
