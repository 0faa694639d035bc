// The crash budget of one worker slot, as pure decisions: so many deaths in a row without a finished episode
// between them, with a growing pause before each restart, and the slot is down.

/** `consecutive` deaths since the last finished episode, `total` ever. */
export interface SlotHealth {
  readonly consecutive: number;
  readonly total: number;
}

export const healthy: SlotHealth = { consecutive: 0, total: 0 };

const firstPauseMs = 500;
const longestPauseMs = 30_000;

export type AfterDeath =
  | { readonly verdict: 'restart'; readonly pauseMs: number; readonly health: SlotHealth }
  | { readonly verdict: 'down'; readonly health: SlotHealth };

/** The first restart is immediate; then 0.5 s, 1 s, 2 s … up to 30 s. */
export function afterDeath(before: SlotHealth, crashBudget: number): AfterDeath {
  const health = { consecutive: before.consecutive + 1, total: before.total + 1 };
  if (health.consecutive >= crashBudget) return { verdict: 'down', health };
  const pauseMs = health.consecutive === 1 ? 0 : firstPauseMs * 2 ** (health.consecutive - 2);
  return { verdict: 'restart', pauseMs: Math.min(pauseMs, longestPauseMs), health };
}

/** An episode ended with its processes alive. */
export function afterFinishedEpisode(before: SlotHealth): SlotHealth {
  return before.consecutive === 0 ? before : { ...before, consecutive: 0 };
}
