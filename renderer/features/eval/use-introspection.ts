// What a graph needs and offers. First what is known without loading anything; then, for graphs of the workspace and
// the library whose nodesets start without an interpreter of their own, loaded at once; otherwise when asked.
import { useState } from 'react';
import type { Introspection } from '#contract/requests.ts';
import type { RequestError } from '../../api/request-error.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { useLoad } from '../../ui/use-request.ts';

export interface IntrospectionState {
  readonly value: Introspection | null;
  readonly error: RequestError | null;
  /** Reading the graph. */
  readonly isReading: boolean;
  /** Starting nodesets. */
  readonly isLoading: boolean;
  /** Names of nodesets that must still be loaded before they can tell about themselves. */
  readonly unloaded: readonly string[];
  readonly load: () => void;
  readonly reload: () => void;
}

export function useIntrospection(ref: string | null): IntrospectionState {
  const { client } = useStudio();
  const [asked, setAsked] = useState<string | null>(null);
  const shallow = useLoad(ref === null ? null : `shallow ${ref}`, (signal) =>
    client.request('graphs.introspect', { ref: ref ?? '', load: false }, signal),
  );
  const wantsLoad = ref !== null && shallow.value !== null && (asked === ref || loadsByItself(shallow.value));
  const deep = useLoad(wantsLoad ? `deep ${ref}` : null, (signal) =>
    client.request('graphs.introspect', { ref: ref ?? '', load: true }, signal),
  );
  const value = deep.value ?? shallow.value;
  return {
    value,
    error: deep.error ?? shallow.error,
    isReading: shallow.isLoading && shallow.value === null,
    isLoading: deep.isLoading && wantsLoad,
    unloaded: value?.unloaded ?? [],
    load: () => {
      if (asked === ref || wantsLoad) deep.reload();
      setAsked(ref);
    },
    reload: () => {
      shallow.reload();
      deep.reload();
    },
  };
}

/** Nothing from outside the workspace and the library starts without being asked for. */
function loadsByItself(value: Introspection): boolean {
  if (value.graph.origin === 'file') return false;
  const waiting = value.nodesets.filter((nodeset) => nodeset.state !== 'loaded');
  const needsMetadata = value.environments.some(
    (environment) => environment.metadata === null && !environment.error,
  );
  if (waiting.length === 0 && !needsMetadata) return false;
  return waiting.every((nodeset) => nodeset.language === 'typescript' || nodeset.origin === 'library');
}
