// Where numbers come from, as a table: everything a run was started with and ran on, one row per fact, several runs
// side by side with what differs marked.
import type { z } from 'zod';
import type { provenanceRow } from '../contract/compare.ts';
import type { RunRecord } from '../contract/run.ts';
import type { RunHead } from './run-head.ts';

type ProvenanceRow = z.infer<typeof provenanceRow>;
type Facts = Map<string, { readonly section: string; readonly field: string; readonly value: string | null }>;

/** Sections in the order a reader asks: what was run, on which episodes, under which budgets, with which code, where. */
export function provenanceRows(records: readonly RunHead[]): ProvenanceRow[] {
  const facts = records.map(factsOf);
  const keys = [...new Set(facts.flatMap((known) => [...known.keys()]))];
  const rows = keys.map((key) => {
    const [section = '', field = ''] = key.split('\u001f');
    const values = facts.map((known) => known.get(key)?.value ?? null);
    return { section, field, values, differs: new Set(values).size > 1 };
  });
  return sections.flatMap((section) => rows.filter((row) => row.section === section));
}

const sections = ['Run', 'Episodes', 'Budgets', 'Metrics', 'Code', 'Models', 'Machine'];

function factsOf(record: RunHead): Facts {
  const facts: Facts = new Map();
  const add = (section: string, field: string, value: unknown): void => {
    facts.set(`${section}\u001f${field}`, { section, field, value: textOf(value) });
  };
  const { config, provenance, planned } = record;
  add('Run', 'run', record.runId);
  add('Run', 'name', record.name);
  add('Run', 'graph', record.graphName);
  add('Run', 'graph file', record.graphPath);
  add('Run', 'graph hash', provenance.graphHash);
  add('Run', 'status', record.status);
  add('Run', 'started', record.startedAt);
  add('Run', 'finished', record.finishedAt);
  add('Run', 'run again of', record.parentRun);
  add('Run', 'imported from', record.importedFrom);
  add('Episodes', 'environment', record.envName);
  add('Episodes', 'environment nodeset', record.envNodeset);
  add('Episodes', 'split', record.split);
  for (const [name, value] of Object.entries(config.selectors)) add('Episodes', name, value);
  add('Episodes', 'selection', config.episodes);
  add('Episodes', 'planned', planned);
  add('Episodes', 'repeats', config.repeats);
  add('Episodes', 'run seed', record.importedFrom === undefined ? config.seed : null);
  add('Budgets', 'steps per episode', record.stepBudget);
  add('Budgets', 'seconds per step', record.perStepBudgetSec);
  add('Budgets', 'workers', config.workerCount);
  add('Budgets', 'retry', config.retry);
  add('Budgets', 'batching', config.batching);
  add('Budgets', 'recording', config.recording);
  add('Budgets', 'strict errors', config.strictErrors);
  for (const { name, kind, worst, higherIsBetter, unit } of record.metrics)
    add('Metrics', name, { kind, unit, worst, higherIsBetter });
  addProvenance(provenance, add);
  return facts;
}

function addProvenance(
  provenance: RunRecord['provenance'],
  add: (section: string, field: string, value: unknown) => void,
): void {
  add('Code', 'application', provenance.appVersion);
  add('Code', 'git commit', provenance.gitCommit);
  add('Code', 'uncommitted changes', provenance['gitDirty']);
  for (const { name, sourceHash } of provenance.nodesets) add('Code', `nodeset ${name}`, sourceHash);
  for (const { path, version, ...rest } of provenance.interpreters) {
    add('Code', `interpreter ${path}`, version);
    const packages = rest['packages'];
    if (typeof packages !== 'object' || packages === null) continue;
    for (const [name, packageVersion] of Object.entries(packages))
      add('Code', `package ${name}`, packageVersion);
  }
  for (const { path, hash } of provenance.models) add('Models', path, hash);
  add('Machine', 'host', provenance.host);
  add('Machine', 'system', provenance.os);
  add('Machine', 'node', provenance['nodeVersion']);
  add('Machine', 'processor', provenance.cpu);
  add('Machine', 'cores', provenance.cores);
  add('Machine', 'memory', `${(provenance.memoryBytes / 2 ** 30).toFixed(1)} GiB`);
  add('Machine', 'GPU', provenance.gpu);
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
