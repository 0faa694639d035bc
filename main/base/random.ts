// Seeded randomness. One generator (xoshiro128**, Blackman & Vigna 2018, seeded by splitmix32) for everything
// whose result must be reproducible: episode sampling, policies, procedural worlds, bootstrap.

export interface Random {
  /** Uniform in [0, 1) with 32 bits. */
  next(): number;
  /** Uniform integer in [0, below). */
  integer(below: number): number;
  /** Uniform unsigned 32-bit integer. */
  bits(): number;
}

export function createRandom(seed: number): Random {
  let mix = seed >>> 0;
  const splitmix = (): number => {
    mix = (mix + 0x9e3779b9) | 0;
    let t = mix ^ (mix >>> 16);
    t = Math.imul(t, 0x21f0aaad);
    t ^= t >>> 15;
    t = Math.imul(t, 0x735a2d97);
    return (t ^ (t >>> 15)) >>> 0;
  };
  let a = splitmix();
  let b = splitmix();
  let c = splitmix();
  let d = splitmix();
  const bits = (): number => {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  return {
    bits,
    next: () => bits() / 2 ** 32,
    integer: (below) => Math.floor((bits() / 2 ** 32) * below),
  };
}

/** A 32-bit seed from any number of parts (FNV-1a over their text, finished by an avalanche step). */
export function deriveSeed(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of parts.map(String).join('\u001f')) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Fisher-Yates; returns a new array. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = random.integer(last + 1);
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
