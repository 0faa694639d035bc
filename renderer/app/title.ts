// The window title carries the progress of what runs. Pure.
import { countsOf, type StudioState } from '../store/studio-store.ts';
import { formatCount, formatShare } from '../ui/format.ts';

export function titleOf(state: Pick<StudioState, 'guard' | 'items' | 'progress'>): string {
  const { holder } = state.guard;
  if (holder?.kind !== 'eval') return 'AgentCanvas';
  const counts = countsOf(state, holder.id);
  if (!counts || counts.planned === 0) return `${holder.label} – AgentCanvas`;
  const done = counts.planned - counts.notRun;
  return `${formatShare(done, counts.planned)} · ${formatCount(done)}/${formatCount(counts.planned)} · ${holder.label} – AgentCanvas`;
}
