// Whether a slot's process may be started again: pure. Deaths count only while no episode was finished in between.

export interface RestartLimits {
  /** So many deaths in a row and the slot is down. */
  readonly deathsUntilDown: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const defaultRestartLimits: RestartLimits = {
  deathsUntilDown: 3,
  firstDelayMs: 250,
  longestDelayMs: 10_000,
};

export type RestartDecision =
  | { readonly action: 'restart'; readonly delayMs: number }
  | { readonly action: 'down' };

/**
 * @param deathsInARow deaths since the last finished episode, the latest included (1 or more)
 */
export function decideRestart(
  deathsInARow: number,
  limits: RestartLimits = defaultRestartLimits,
): RestartDecision {
  if (deathsInARow >= limits.deathsUntilDown) return { action: 'down' };
  // The first death is restarted at once: most deaths are a single crash, and an episode waits.
  if (deathsInARow <= 1) return { action: 'restart', delayMs: 0 };
  return {
    action: 'restart',
    delayMs: Math.min(limits.longestDelayMs, limits.firstDelayMs * 4 ** (deathsInARow - 2)),
  };
}
