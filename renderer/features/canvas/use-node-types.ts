// The node types the engine knows, by name: read again when a nodeset was loaded, changed or found.
import { useEffect, useMemo, useRef } from 'react';
import type { NodeManifest } from '#contract/nodeset.ts';
import type { RequestError } from '../../api/request-error.ts';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { useLoad } from '../../ui/use-request.ts';

export interface NodeTypes {
  readonly types: ReadonlyMap<string, NodeManifest> | null;
  readonly error: RequestError | null;
}

export function useNodeTypes(): NodeTypes {
  const { client } = useStudio();
  const known = useStudioState((state) =>
    Object.values(state.nodesets)
      .map(({ name, sourceHash, nodeTypes }) => `${name} ${sourceHash} ${nodeTypes.length}`)
      .join('\n'),
  );
  const { value, error, reload } = useLoad('node types', (signal) =>
    client.request('nodesets.nodes', {}, signal),
  );
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) reload();
    isFirst.current = false;
  }, [known, reload]);
  const types = useMemo(
    () => (value ? new Map(value.nodes.map((node) => [node.nodeType, node])) : null),
    [value],
  );
  return { types, error };
}
