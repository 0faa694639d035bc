// Hot path. The ready queue: first in, first out, each node at most once, so a ring as long as the graph is enough.
// Settling takes nodes out of the middle.

export class ReadyQueue {
  readonly #ring: Int32Array;
  readonly #queued: Uint8Array;
  #head = 0;
  #size = 0;

  constructor(nodeCount: number) {
    this.#ring = new Int32Array(nodeCount);
    this.#queued = new Uint8Array(nodeCount);
  }

  get size(): number {
    return this.#size;
  }

  has(index: number): boolean {
    return this.#queued[index] === 1;
  }

  push(index: number): void {
    if (this.#queued[index] === 1) return;
    this.#queued[index] = 1;
    this.#ring[this.#position(this.#size)] = index;
    this.#size++;
  }

  shift(): number | undefined {
    if (this.#size === 0) return undefined;
    const first = this.#ring[this.#head] ?? 0;
    this.#head = this.#position(1);
    this.#size--;
    this.#queued[first] = 0;
    return first;
  }

  /** Takes out the first node for which `wanted` holds; the others keep their order. */
  takeFirst(wanted: (index: number) => boolean): number | undefined {
    for (let place = 0; place < this.#size; place++) {
      const index = this.#ring[this.#position(place)] ?? 0;
      if (!wanted(index)) continue;
      for (let later = place + 1; later < this.#size; later++) {
        this.#ring[this.#position(later - 1)] = this.#ring[this.#position(later)] ?? 0;
      }
      this.#size--;
      this.#queued[index] = 0;
      return index;
    }
    return undefined;
  }

  clear(): void {
    this.#head = 0;
    this.#size = 0;
    this.#queued.fill(0);
  }

  #position(place: number): number {
    const position = this.#head + place;
    return position < this.#ring.length ? position : position - this.#ring.length;
  }
}
