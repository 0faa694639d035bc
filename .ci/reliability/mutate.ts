// Seeded damage to JSON values and to text: the values that parsers are known to trip over, in every place.
import type { Random } from '../../main/base/random.ts';

const nasty: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1e308,
  -1e308,
  2 ** 53,
  0.1,
  1e-320,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '💥'.repeat(50),
  '../../../etc/passwd',
  '${process.exit(1)}',
  '<script>alert(1)</script>',
  "'; DROP TABLE runs; --",
  'x'.repeat(10_000),
  [],
  {},
  [[[[[[]]]]]],
  { __proto__: null, toString: 1, length: -1 },
  Array.from({ length: 300 }, (_item, index) => index),
];
const keys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'id',
  'type',
  'config',
  'x'.repeat(300),
  '',
];

/** A copy with `count` places replaced, removed, doubled or renamed. */
export function mutateValue(value: unknown, random: Random, count: number): unknown {
  let copy: unknown = structuredClone(value);
  for (let done = 0; done < count; done++) copy = mutateOnce(copy, random);
  return copy;
}

export function nastyValue(random: Random): unknown {
  return structuredClone(nasty[random.integer(nasty.length)]);
}

function mutateOnce(root: unknown, random: Random): unknown {
  const places = placesOf(root);
  const place = places[random.integer(places.length + 1)];
  if (!place) return nastyValue(random);
  const { holder, key } = place;
  switch (random.integer(5)) {
    case 0:
      set(holder, key, nastyValue(random));
      break;
    case 1:
      Reflect.deleteProperty(holder, key);
      break;
    case 2:
      if (Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
      else set(holder, `${key}2`, Reflect.get(holder, key));
      break;
    case 3: {
      const other = places[random.integer(places.length)];
      // A value in itself would not be JSON.
      if (other) set(holder, key, structuredClone(Reflect.get(other.holder, other.key)));
      break;
    }
    default:
      set(holder, keys[random.integer(keys.length)] ?? 'x', nastyValue(random));
  }
  return root;
}

/** As an own property, also for `__proto__`. */
function set(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

interface Place {
  readonly holder: object;
  readonly key: string;
}

function placesOf(root: unknown): readonly Place[] {
  const found: Place[] = [];
  const open: unknown[] = [root];
  while (open.length > 0 && found.length < 2000) {
    const holder = open.pop();
    if (typeof holder !== 'object' || holder === null) continue;
    for (const key of Object.keys(holder)) {
      found.push({ holder, key });
      open.push(Reflect.get(holder, key));
    }
  }
  return found;
}

/** Cut, flipped, doubled, with brackets and escapes put in. */
export function mutateText(text: string, random: Random): string {
  const at = random.integer(text.length + 1);
  const to = Math.min(text.length, at + random.integer(200));
  switch (random.integer(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(to);
    case 2:
      return text.slice(0, to) + text.slice(at);
    case 3:
      return text.slice(0, at) + String.fromCharCode(random.integer(0x10000)) + text.slice(at + 1);
    case 4:
      return text.slice(0, at) + '[{"a":'.repeat(1 + random.integer(60)) + text.slice(at);
    default:
      return (
        text.slice(0, at) +
        (['\\u0000', '"', '{', '}', ']', ',', '1e999', 'NaN'][random.integer(8)] ?? '') +
        text.slice(at)
      );
  }
}
