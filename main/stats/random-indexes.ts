// Hot path of the bootstrap and the permutation test: blocks of seeded random numbers written into typed arrays,
// generator state in local variables. xoshiro128** (Blackman & Vigna 2018), seeded by splitmix32.

export interface RandomBlocks {
  /** Fills with uniform integers in [0, below). */
  fillIndexes(target: Uint32Array, below: number): void;
  /** Fills with uniform bytes. */
  fillBytes(target: Uint8Array): void;
}

/** Equal seeds give equal streams on every machine. */
export function createRandomBlocks(seed: number): RandomBlocks {
  const state = seedState(seed);
  const words = new Uint32Array(1024);
  return {
    fillIndexes(target, below) {
      fillWords(state, target);
      const scale = below / 2 ** 32;
      for (let i = 0; i < target.length; i++) target[i] = (target[i] as number) * scale;
    },
    fillBytes(target) {
      const bytes = new Uint8Array(words.buffer);
      for (let at = 0; at < target.length; at += bytes.length) {
        fillWords(state, words);
        target.set(bytes.subarray(0, Math.min(bytes.length, target.length - at)), at);
      }
    },
  };
}

function fillWords(state: Uint32Array, target: Uint32Array): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let i = 0; i < target.length; i++) {
    const product = Math.imul(b, 5);
    target[i] = Math.imul((product << 7) | (product >>> 25), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
  }
  state.set([a, b, c, d]);
}

function seedState(seed: number): Uint32Array {
  let mix = seed >>> 0;
  return Uint32Array.from({ length: 4 }, () => {
    mix = (mix + 0x9e3779b9) | 0;
    let t = mix ^ (mix >>> 16);
    t = Math.imul(t, 0x21f0aaad);
    t ^= t >>> 15;
    t = Math.imul(t, 0x735a2d97);
    return t ^ (t >>> 15);
  });
}

/** A 32-bit seed from text (FNV-1a), so that each metric has its own reproducible stream. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
