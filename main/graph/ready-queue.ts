// Hot path. The ready queue: first in, first out, each node at most once. Settling takes nodes out of the middle.

export class ReadyQueue {
  #items: number[] = [];
  #head = 0;
  readonly #queued: Uint8Array;

  constructor(nodeCount: number) {
    this.#queued = new Uint8Array(nodeCount);
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  has(index: number): boolean {
    return this.#queued[index] === 1;
  }

  push(index: number): void {
    if (this.#queued[index] === 1) return;
    this.#queued[index] = 1;
    this.#items.push(index);
  }

  shift(): number | undefined {
    const first = this.#items[this.#head];
    if (first === undefined) return undefined;
    this.#head++;
    this.#queued[first] = 0;
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return first;
  }

  /** Takes out the first node for which `wanted` holds. */
  takeFirst(wanted: (index: number) => boolean): number | undefined {
    for (let position = this.#head; position < this.#items.length; position++) {
      const index = this.#items[position];
      if (index === undefined || !wanted(index)) continue;
      if (position === this.#head) return this.shift();
      this.#items.splice(position, 1);
      this.#queued[index] = 0;
      return index;
    }
    return undefined;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
    this.#queued.fill(0);
  }
}
