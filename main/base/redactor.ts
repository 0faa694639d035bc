// Takes secrets out of what is written or shown, by their value: whoever printed them, and in whatever text. Without
// secrets it costs one comparison. Secrets are only ever added: what was one yesterday may still be in a log today.

export interface Redactor {
  /** Short texts are no secrets: they would be found in ordinary words. */
  readonly add: (secret: string) => void;
  readonly text: (text: string) => string;
  /** A copy without secrets where there are some; the same value where there are none. Plain data only. */
  readonly value: <Value>(value: Value) => Value;
}

const shortestSecret = 8;
const replacement = '[redacted]';

export function createRedactor(): Redactor {
  const secrets = new Set<string>();
  let ordered: readonly string[] = [];
  const text = (whole: string): string => {
    let result = whole;
    for (const secret of ordered)
      if (result.includes(secret)) result = result.replaceAll(secret, replacement);
    return result;
  };
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null || depth > 40) return value;
    if (ArrayBuffer.isView(value)) return value;
    if (Array.isArray(value)) return mapped(value, depth);
    if (!isPlain(value)) return value;
    let changed = false;
    const entries = Object.entries(value).map(([name, member]) => {
      const [cleanName, clean] = [text(name), walk(member, depth + 1)];
      if (clean !== member || cleanName !== name) changed = true;
      return [cleanName, clean] as const;
    });
    return changed ? Object.fromEntries(entries) : value;
  };
  const mapped = (items: readonly unknown[], depth: number): readonly unknown[] => {
    const clean = items.map((item) => walk(item, depth + 1));
    return clean.some((item, place) => item !== items[place]) ? clean : items;
  };
  return {
    add(secret) {
      if (secret.length < shortestSecret || secrets.has(secret)) return;
      // Also as it stands inside a text of JSON and of an address.
      for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
        secrets.add(form);
      // A secret that contains another one goes first.
      ordered = [...secrets].sort((a, b) => b.length - a.length);
    },
    text,
    value: <Value>(value: Value): Value => (ordered.length === 0 ? value : (walk(value, 0) as Value)),
  };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
