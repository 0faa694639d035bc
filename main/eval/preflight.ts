// The checks before a start, in seconds and without side effects: what is wrong, and what to do about it.
import type { EvalConfig } from '../contract/eval-config.ts';
import type { Diagnostic } from '../contract/graph.ts';
import type { Preflight } from '../contract/requests.ts';
import { toStudioError } from '../base/errors.ts';
import type { NodesetRegistry } from '../nodeset/ports.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { spaceWithoutEnvironment, type Environment } from './environment.ts';
import { planEpisodes } from './episode-source.ts';
import { requiredNodesets } from '../graph/graph-tools.ts';
import { replicaBytes } from './introspect.ts';
import type { GraphSource, LoadedGraph, MachineFacts } from './ports.ts';

type Check = Preflight['checks'][number];
type PlaceCheck = Awaited<ReturnType<NodesetRegistry['placeChecks']>>[number];

export interface PreflightPorts {
  readonly graphs: GraphSource;
  readonly registry: NodesetRegistry;
  readonly reader: EnvironmentReader;
  readonly machine: MachineFacts;
  readonly freeBytes: () => Promise<number>;
  readonly pauseBelowBytes: number;
  /** Providers whose key is missing, of those the graph's nodes use; each with what to do. Null when it uses none. */
  readonly missingKeys?:
    | ((
        graph: LoadedGraph,
        config: EvalConfig,
      ) => Promise<readonly { readonly provider: string; readonly fix: string }[] | null>)
    | undefined;
}

export async function preflight(
  ports: PreflightPorts,
  config: EvalConfig,
  signal?: AbortSignal,
): Promise<Preflight> {
  const checks: Check[] = [];
  const graph = await attempt(checks, 'graph', 'Choose a graph that exists.', () =>
    ports.graphs.load(config.graph),
  );
  if (!graph) return { ok: false, checks, episodes: null };
  checks.push(graphCheck(ports.graphs.validate(graph.definition)));
  const names = requiredNodesets(graph.definition);
  checks.push(nodesetCheck(names, ports.registry));
  const places = await ports.registry.placeChecks(names, config.spawner);
  checks.push(...places.map(placeCheck));
  // Elsewhere than on this machine every environment has a process of its own.
  const here = names.filter((name) => places.every(({ nodeset }) => nodeset !== name));
  checks.push(...processChecks(ports.registry, here, config));
  const episodes = checks.every(({ ok, warning }) => ok || warning)
    ? await episodesOf(ports, { config, graph, names, signal }, checks)
    : null;
  checks.push(
    await diskCheck(ports),
    memoryCheck(ports, names, config.workerCount),
    ...(await keyChecks(ports, graph, config)),
  );
  return { ok: checks.every(({ ok, warning }) => ok || warning), checks, episodes };
}

async function episodesOf(
  ports: PreflightPorts,
  asked: {
    readonly config: EvalConfig;
    readonly graph: LoadedGraph;
    readonly names: readonly string[];
    readonly signal: AbortSignal | undefined;
  },
  checks: Check[],
): Promise<number | null> {
  const { config, graph, names, signal } = asked;
  const environment = await attempt(
    checks,
    'environment',
    'Fix what the environment says, or choose other selectors.',
    async () => {
      const outcome = await ports.reader.describe(names, config, signal ? { signal } : {});
      if (outcome.ok) return { read: outcome.value };
      throw outcome.error;
    },
  );
  if (!environment) return null;
  const space = environment.read?.space ?? spaceWithoutEnvironment(graph.item.name);
  checks.push(passed('environment', describeRead(environment.read)));
  const plan = await attempt(checks, 'episodes', 'Ask for fewer episodes, or for others.', () =>
    Promise.resolve().then(() => planEpisodes(config, space)),
  );
  if (!plan) return null;
  checks.push(passed('episodes', `${plan.length.toLocaleString('en')} episodes`));
  return plan.length;
}

function describeRead(environment: Environment | null): string {
  if (!environment) return 'The graph uses no environment';
  const { space, metadata } = environment;
  const count =
    space.episodeCount === null ? 'unbounded' : `${space.episodeCount.toLocaleString('en')} episodes`;
  return `${metadata.envName}, ${space.label}: ${count}`;
}

function graphCheck(diagnostics: readonly Diagnostic[]): Check {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return passed('graph', 'The graph is valid');
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return failed('graph', `${first.nodePath ? `${first.nodePath}: ` : ''}${first.message}${more}`, first.fix);
}

function nodesetCheck(names: readonly string[], registry: NodesetRegistry): Check {
  const summaries = registry.list();
  for (const name of names) {
    const summary = summaries.find((candidate) => candidate.name === name);
    if (!summary)
      return failed(
        'nodesets',
        `No nodeset "${name}" was found`,
        "Put it into the workspace's nodesets folder, or correct the graph.",
      );
    if (summary.state === 'failed')
      return failed(
        'nodesets',
        `${name}: ${summary.error ?? 'could not be loaded'}`,
        'See its log on the Nodesets page.',
      );
  }
  return passed('nodesets', names.length === 0 ? 'The graph needs none' : names.join(', '));
}

/** Places other than this machine, for those that use one. */
function placeCheck({ nodeset, place, ok, warning, output, fix }: PlaceCheck): Check {
  const told = ok
    ? passed('spawner', `${nodeset}: ${place}, ${output}`)
    : failed('spawner', `${nodeset}: ${output}`, fix);
  return { ...told, warning };
}

/** Nothing where every environment has a process of its own. */
function processChecks(
  registry: NodesetRegistry,
  names: readonly string[],
  { envsPerProcess, workerCount }: EvalConfig,
): Check[] {
  if (envsPerProcess === 1 || workerCount === 1) return [];
  const manifests = names.flatMap((name) => registry.manifest(name) ?? []);
  const sharing = manifests.filter(
    ({ language, parallelism, sharesProcess }) =>
      language === 'python' && parallelism === 'replicated' && sharesProcess !== false,
  );
  if (sharing.length === 0)
    return [passed('processes', 'No nodeset of this graph can share a process: each worker has its own')];
  return sharing.map(({ name, sharesProcess }) => {
    const message = `${name}: up to ${envsPerProcess} environments share a process, and repeat their episodes when it ends`;
    if (sharesProcess) return passed('processes', message);
    const fix = `It does not say that they may. Compare a few episodes with one to a process first, then set shares_process = True in its class.`;
    return { ...failed('processes', message, fix), warning: true };
  });
}

async function diskCheck({ freeBytes, pauseBelowBytes }: PreflightPorts): Promise<Check> {
  const free = await freeBytes();
  const message = `${Math.floor(free / 1e6).toLocaleString('en')} MB free`;
  if (free >= pauseBelowBytes) return passed('disk', message);
  return failed(
    'disk',
    message,
    `Free at least ${Math.ceil(pauseBelowBytes / 1e6)} MB: the run would pause at once.`,
  );
}

function memoryCheck(
  { registry, machine }: PreflightPorts,
  names: readonly string[],
  workers: number,
): Check {
  const each = replicaBytes(names, registry);
  const freeMb = Math.floor(machine.freeMemoryBytes() / 1e6);
  if (each === null)
    return passed('memory', `${freeMb.toLocaleString('en')} MB free; no nodeset says what it needs`);
  const neededMb = Math.ceil((each * workers) / 1e6);
  const message = `${workers} ${workers === 1 ? 'worker needs' : 'workers need'} about ${neededMb.toLocaleString('en')} MB, ${freeMb.toLocaleString('en')} MB are free`;
  if (neededMb <= freeMb) return passed('memory', message);
  return {
    ...failed(
      'memory',
      message,
      `Use ${Math.max(1, Math.floor((freeMb * 1e6) / each))} workers, or close other programs.`,
    ),
    warning: true,
  };
}

/** Nothing about keys where no language model is asked. */
async function keyChecks(
  { missingKeys }: PreflightPorts,
  graph: LoadedGraph,
  config: EvalConfig,
): Promise<Check[]> {
  const missing = await missingKeys?.(graph, config);
  if (!missing) return [];
  const [first] = missing;
  if (!first) return [passed('keys', 'No key is missing')];
  return [failed('keys', `No key for ${first.provider}`, first.fix)];
}

/** The work's value, or undefined after noting why there is none. */
async function attempt<Value>(
  checks: Check[],
  name: string,
  fix: string,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    checks.push(failed(name, toStudioError(error).message, fix));
    return undefined;
  }
}

const passed = (name: string, message: string): Check => ({
  name,
  ok: true,
  warning: false,
  message,
  fix: '',
});
const failed = (name: string, message: string, fix: string): Check => ({
  name,
  ok: false,
  warning: false,
  message,
  fix,
});
