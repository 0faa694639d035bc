// What a start is refused for before anything is made, and the record a new run begins with.
import { StudioError } from '../base/errors.ts';
import type { EvalConfig } from '../contract/eval-config.ts';
import type { GraphDefinition } from '../contract/graph.ts';
import type { Provenance, RunRecord } from '../contract/run.ts';
import type { NodesetRegistry } from '../nodeset/ports.ts';
import { chooseEnvNodeset } from './environment.ts';
import { requiredNodesets } from '../graph/graph-tools.ts';
import type { GraphSource, LoadedGraph } from './ports.ts';

/** Throws `graph_invalid` with the diagnostics, `nodeset_unknown`, or what `chooseEnvNodeset` throws. */
export function refuseInvalidGraph(
  definition: GraphDefinition,
  {
    graphs,
    registry,
    config,
  }: {
    readonly graphs: Pick<GraphSource, 'validate'>;
    readonly registry: Pick<NodesetRegistry, 'list' | 'manifest'>;
    readonly config: EvalConfig;
  },
): void {
  const names = requiredNodesets(definition);
  const known = registry.list().map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const message = `The graph needs the nodeset "${unknown}", which was not found. Put it into the workspace's nodesets folder.`;
    throw new StudioError('nodeset_unknown', message);
  }
  const broken = registry.list().find(({ name, state }) => names.includes(name) && state === 'failed');
  if (broken) {
    const message = `The nodeset "${broken.name}" cannot be used: ${broken.error ?? 'it failed to load'}`;
    throw new StudioError(broken.errorCode === 'untrusted' ? 'untrusted' : 'nodeset_failed', message);
  }
  const errors = graphs.validate(definition).filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first) {
    const where = first.nodePath ? `${first.nodePath}: ` : '';
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
    throw new StudioError('graph_invalid', `${where}${first.message}${more}. ${first.fix}`, {
      details: { diagnostics: errors },
    });
  }
  if (!definition.eval_graph) {
    throw new StudioError(
      'graph_invalid',
      'The graph is not marked as an evaluation graph. Set eval_graph to true.',
    );
  }
  chooseEnvNodeset(
    config.envNodeset,
    names.filter((name) => registry.manifest(name)?.hasEnvPanel === true),
  );
}

/** Every episode would fail of it. Throws `invalid_input` that says where the key goes. */
export function refuseMissingKeys(
  missing: readonly { readonly provider: string; readonly fix: string }[],
): void {
  const [first] = missing;
  if (first) throw new StudioError('invalid_input', `No key for ${first.provider}: ${first.fix}`);
}

export interface DraftInput {
  readonly runId: string;
  readonly request: { readonly config: EvalConfig; readonly parentRun?: string | undefined };
  readonly graph: LoadedGraph;
  readonly status: 'preparing' | 'queued';
  readonly provenance: Provenance;
  readonly nowMs: number;
}

/** The plan, the environment and the budgets come once the environment is loaded. */
export function draftRecord({ runId, request, graph, status, provenance, nowMs }: DraftInput): RunRecord {
  const { config, parentRun = null } = request;
  const { item, definition } = graph;
  return {
    formatVersion: 1,
    runId,
    name: item.name,
    parentRun,
    status,
    config,
    graphName: item.name,
    graphPath: item.ref,
    envNodeset: config.envNodeset ?? null,
    envName: null,
    split: config.selectors['split'] ?? null,
    metrics: [],
    stepBudget: config.stepBudget ?? definition.step_budget ?? definition.maxIterations ?? null,
    perStepBudgetSec: config.perStepBudgetSec ?? 30,
    plan: [],
    provenance,
    createdAt: new Date(nowMs).toISOString(),
    startedAt: null,
    finishedAt: null,
    activeMs: 0,
    error: null,
    pausedBecause: null,
    tags: config.tags,
    note: config.note,
  };
}
