// How long to wait before the next try to reconnect: doubling, bounded, with jitter so that clients spread. Pure.

export interface BackoffOptions {
  readonly firstMs: number;
  readonly greatestMs: number;
}

export const reconnectBackoff: BackoffOptions = { firstMs: 500, greatestMs: 10_000 };

/** `attempt` counts from 1; `random` in [0, 1) takes up to a fifth off. */
export function backoffMs(
  attempt: number,
  random: number,
  options: BackoffOptions = reconnectBackoff,
): number {
  const full = Math.min(options.greatestMs, options.firstMs * 2 ** Math.max(0, attempt - 1));
  return Math.round(full * (1 - random / 5));
}
