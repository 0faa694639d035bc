// The rule of trying again, as pure functions: what is worth another try, and how long to wait for it.

/** How one try ended without an answer. */
export interface TryFailure {
  readonly kind: 'status' | 'network' | 'cut' | 'garbage' | 'timeout' | 'refused';
  readonly status?: number | undefined;
  /** What the endpoint said. */
  readonly message: string;
  /** How long the endpoint asks to wait. */
  readonly hintMs?: number | undefined;
}

const firstWaitMs = 500;
const longestWaitMs = 30_000;
/** Codes of 429 that no waiting mends. */
const exhausted = /insufficient_quota|billing|credit balance|exceeded your current quota/i;

export function isWorthAnotherTry({ kind, status = 0, message }: TryFailure): boolean {
  switch (kind) {
    case 'network':
    case 'cut':
    case 'garbage':
    case 'timeout':
      return true;
    case 'status':
      if (status === 429) return !exhausted.test(message);
      return status === 408 || status === 409 || status === 425 || status >= 500;
    case 'refused':
      return false;
  }
}

/** Before try number `tries` + 1: the endpoint's hint, else doubling with up to a half added by `random` in [0, 1). */
export function waitMs(failure: TryFailure, tries: number, random: number): number {
  if (failure.hintMs !== undefined) return failure.hintMs;
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1)) * (1 + random / 2);
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
export function hintOf(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const precise = Number(headers['retry-after-ms']);
  if (headers['retry-after-ms'] !== undefined && Number.isFinite(precise) && precise >= 0) return precise;
  const hint = headers['retry-after']?.trim();
  if (hint === undefined || hint === '') return undefined;
  const seconds = Number(hint);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const dateMs = Date.parse(hint);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
