// How runs stand, as text that changes when one of them goes on to another state while the page is open.
import { useStudioState } from '../../store/use-studio.tsx';

export function useStanding(runIds: readonly string[]): string {
  return useStudioState(({ items }) => runIds.map((runId) => items[runId]?.status ?? '').join(' '));
}
