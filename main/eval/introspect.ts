// What a graph is made of and what its environments offer: everything the form needs to draw itself.
import { toStudioError } from '../base/errors.ts';
import type { GraphDefinition } from '../contract/graph.ts';
import type { NodesetSummary } from '../contract/nodeset.ts';
import type { Introspection } from '../contract/requests.ts';
import type { NodesetRegistry } from '../nodeset/ports.ts';
import { errorInfoOf } from './error-info.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { allNodes, requiredNodesets } from '../graph/graph-tools.ts';
import type { GraphSource, MachineFacts } from './ports.ts';

const fallbackPerStepBudgetSec = 30;
/** Left to the engine and the desktop when workers are suggested. */
const reservedMemoryBytes = 1.5e9;
const assumedReplicaBytes = 400e6;

export interface IntrospectPorts {
  readonly graphs: GraphSource;
  readonly registry: NodesetRegistry;
  readonly reader: EnvironmentReader;
  readonly machine: MachineFacts;
}

/** With `load` false nothing is started: environments that were not read before have null fields. */
export async function introspect(
  ports: IntrospectPorts,
  request: { readonly ref: string; readonly load: boolean; readonly signal?: AbortSignal },
): Promise<Introspection> {
  const { graphs, registry, machine } = ports;
  const { item, definition } = await graphs.load(request.ref);
  const names = requiredNodesets(definition);
  if (request.load) await loadUnknown(registry, names, request.signal);
  const summaries = registry.list().filter(({ name }) => names.includes(name));
  const environments = await environmentsOf(ports, names, request);
  return {
    graph: item,
    diagnostics: [...graphs.validate(definition)],
    environments,
    nodesets: summaries,
    missing: names.filter((name) => !summaries.some((summary) => summary.name === name)),
    unloaded: unloadedOf(ports, summaries, request.load || ports.reader.isKnown(names)),
    batchedNodes: batchedNodesOf(definition, registry),
    asksLanguageModels: allNodes(definition).some(({ node }) => node.type === 'llmCall'),
    stepBudget: definition.step_budget ?? definition.maxIterations ?? null,
    suggestedWorkers: suggestedWorkers(names, registry, machine),
  };
}

/**
 * What there is to load before everything is told. Nodesets are let go again once they were read, so most are not
 * loaded now and need not be.
 */
function unloadedOf(
  { registry }: IntrospectPorts,
  summaries: readonly NodesetSummary[],
  areRead: boolean,
): string[] {
  return summaries
    .filter(({ name, state }) => {
      const manifest = registry.manifest(name);
      if (state === 'loaded') return false;
      return state === 'failed' || !manifest || (manifest.hasEnvPanel && !areRead);
    })
    .map(({ name }) => name);
}

/**
 * Nothing can be said of nodesets without their manifests; one put there since the last scan is found. Code that
 * nobody trusts is refused aloud; other failures stand in the nodesets' summaries.
 */
async function loadUnknown(
  registry: NodesetRegistry,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const isFound = (name: string): boolean => registry.list().some((summary) => summary.name === name);
  if (!names.every(isFound)) await registry.scan();
  await registry.lookAtChanges(names, signal ? { signal } : {});
  const unknown = names.filter((name) => isFound(name) && !registry.manifest(name));
  await Promise.all(
    unknown.map(async (name) => {
      try {
        await registry.load(name, signal ? { signal } : {});
      } catch (error) {
        if (toStudioError(error).code === 'untrusted') throw error;
      }
    }),
  );
}

async function environmentsOf(
  { registry, reader }: IntrospectPorts,
  names: readonly string[],
  { load, signal }: { readonly load: boolean; readonly signal?: AbortSignal },
): Promise<Introspection['environments']> {
  const environments = names.filter((name) => registry.manifest(name)?.hasEnvPanel === true);
  const mayRead = environments.length > 0 && (load || reader.isKnown(names));
  const outcome = mayRead ? await reader.read(names, signal ? { signal } : {}) : null;
  return environments.map((nodeset) => {
    const reading = outcome?.ok
      ? outcome.value.find((candidate) => candidate.nodeset === nodeset)
      : undefined;
    return {
      nodeset,
      metadata: reading?.metadata ?? null,
      panel: reading?.panel ?? null,
      panelState: reading?.panelState ?? null,
      perStepBudgetSec: registry.manifest(nodeset)?.defaultPerStepBudgetSec ?? fallbackPerStepBudgetSec,
      error: outcome && !outcome.ok ? errorInfoOf(outcome.error) : null,
    };
  });
}

/** Paths of nodes whose calls gather across workers. */
function batchedNodesOf(definition: GraphDefinition, registry: NodesetRegistry, prefix = ''): string[] {
  return definition.nodes.flatMap((node) => {
    const path = prefix + (node.label || node.id);
    const own = registry.manifests.manifestOf(node.type)?.batched ? [path] : [];
    return node.subgraph ? [...own, ...batchedNodesOf(node.subgraph, registry, `${path} > `)] : own;
  });
}

/** One worker per core but one, as far as memory allows. */
export function suggestedWorkers(
  nodesets: readonly string[],
  registry: Pick<NodesetRegistry, 'manifest'>,
  machine: MachineFacts,
): number {
  const perWorkerBytes = replicaBytes(nodesets, registry) ?? assumedReplicaBytes;
  const byMemory = Math.floor((machine.memoryBytes - reservedMemoryBytes) / Math.max(perWorkerBytes, 1));
  return Math.max(1, Math.min(machine.cores - 1, byMemory));
}

/** What one worker's processes are said to need; null when no nodeset says so. */
export function replicaBytes(
  nodesets: readonly string[],
  registry: Pick<NodesetRegistry, 'manifest'>,
): number | null {
  const declared = nodesets.flatMap((name) => {
    const manifest = registry.manifest(name);
    return manifest?.parallelism === 'replicated' && manifest.expectedRamMb != null
      ? [manifest.expectedRamMb * 1e6]
      : [];
  });
  return declared.length === 0 ? null : declared.reduce((sum, bytes) => sum + bytes, 0);
}
