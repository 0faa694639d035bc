// The replicas of a graph session as the pool sees them: the ones the session started with first, then replacements.
import type { GraphSession, ReplicaSet } from '../nodeset/ports.ts';
import type { ReplicaSource } from './ports.ts';

export function sessionReplicas(session: Pick<GraphSession, 'initial' | 'startReplicaSet'>): ReplicaSource {
  const unused = new Map(session.initial.map((replicas) => [replicas.slot, replicas]));
  return {
    start(slot: number, signal: AbortSignal): Promise<ReplicaSet> {
      const first = unused.get(slot);
      if (!first) return session.startReplicaSet(slot, { signal });
      unused.delete(slot);
      return Promise.resolve(first);
    },
  };
}
