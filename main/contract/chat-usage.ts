// Sums of what calls of language models used. A count that one of them did not say makes the sum unknown.
import type { ChatUsage } from './chat.ts';

export const noUsage: ChatUsage = {
  calls: 0,
  failed: 0,
  retries: 0,
  replayed: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  durationMs: 0,
  models: [],
};

export function addedUsage(a: ChatUsage, b: ChatUsage): ChatUsage {
  return {
    calls: a.calls + b.calls,
    failed: a.failed + b.failed,
    retries: a.retries + b.retries,
    replayed: a.replayed + b.replayed,
    inputTokens: sumOrUnknown(a.inputTokens, b.inputTokens),
    outputTokens: sumOrUnknown(a.outputTokens, b.outputTokens),
    costUsd: sumOrUnknown(a.costUsd, b.costUsd),
    durationMs: a.durationMs + b.durationMs,
    models: [...new Set([...a.models, ...b.models])],
  };
}

/** Null when nothing was asked at all. */
export function totalUsage(usages: Iterable<ChatUsage | null | undefined>): ChatUsage | null {
  let total: ChatUsage | null = null;
  for (const usage of usages) if (usage) total = addedUsage(total ?? noUsage, usage);
  return total;
}

function sumOrUnknown(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}
