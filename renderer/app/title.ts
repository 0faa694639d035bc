// The window title carries the progress of what runs. Pure.
import type { GuardView } from '#contract/requests.ts';
import type { RunListItem } from '#contract/run.ts';
import { formatCount, formatShare } from '../ui/format.ts';

export function titleOf(guard: GuardView, items: Readonly<Record<string, RunListItem>>): string {
  const item = guard.holder?.kind === 'eval' ? items[guard.holder.id] : undefined;
  if (!item) return 'AgentCanvas';
  const { planned, notRun } = item.counts;
  const done = planned - notRun;
  return `${formatShare(done, planned)} · ${formatCount(done)}/${formatCount(planned)} · ${item.name} – AgentCanvas`;
}
