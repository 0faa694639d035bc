// The nodesets as the engine lists them: read anew when one changed, and now and then for memory and silence.
import { useEffect, useRef } from 'react';
import type { NodesetSummary } from '#contract/nodeset.ts';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { useLoad, type Loaded } from '../../ui/use-request.ts';

/** Memory of a process comes with its heartbeats, which are no events. */
const everyMs = 2000;
/** Stages follow each other faster than anybody reads. */
const settleMs = 150;

export function useNodesets(): Loaded<readonly NodesetSummary[]> {
  const { client } = useStudio();
  const changed = useStudioState((state) => state.nodesets);
  const loaded = useLoad('nodesets', async (signal) => {
    const { nodesets } = await client.request('nodesets.list', {}, signal);
    return nodesets;
  });
  const { reload } = loaded;
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return undefined;
    }
    const timer = setTimeout(reload, settleMs);
    return () => clearTimeout(timer);
  }, [changed, reload]);
  const hasProcesses = loaded.value?.some(({ processes }) => processes.length > 0) ?? false;
  useEffect(() => {
    if (!hasProcesses) return undefined;
    const timer = setInterval(() => document.hidden || reload(), everyMs);
    return () => clearInterval(timer);
  }, [hasProcesses, reload]);
  return loaded;
}
