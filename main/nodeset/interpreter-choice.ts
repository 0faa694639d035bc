// Which interpreter a Python nodeset gets: Settings for this nodeset, what the nodeset states, the environment of
// its PEP 723 block (or the default interpreter where that has the packages), the default. Code in `server_python` is run only when asked to choose, never while scanning.
import path from 'node:path';
import { StudioError } from '../base/errors.ts';
import type { PythonEnvironments } from './environments/python-environments.ts';
import type { BuiltEnvironment } from './environments/environment-folder.ts';
import type { PythonProbe } from './environments/python-probe.ts';
import { meetsVersion } from './environments/python-versions.ts';
import {
  namedRequirement,
  specFromScript,
  specFromText,
  type EnvironmentSpec,
} from './environments/requirements.ts';
import type { InterpreterResolver } from './interpreter-resolver.ts';
import type { NodesetSource } from './version.ts';

export interface ChosenInterpreter {
  /** Absolute. */
  readonly path: string;
  readonly from: 'settings' | 'nodeset' | 'script' | 'default';
}

export interface InterpreterChoice {
  /** Rejects with `interpreter_not_found`, or `nodeset_failed` where the nodeset's own statement fails. */
  choose(source: NodesetSource): Promise<ChosenInterpreter>;
  /** The packages to build an environment of, where the nodeset asks for them. */
  environmentOf(source: NodesetSource): Promise<NeededEnvironment | undefined>;
}

export interface NeededEnvironment {
  readonly spec: EnvironmentSpec;
  readonly built: BuiltEnvironment | undefined;
  /** The default interpreter has the packages of a PEP 723 block already, in versions that fit. */
  readonly isUnneeded: boolean;
}

export interface InterpreterChoiceOptions {
  /** Takes every form but `uv:`. */
  readonly resolve: InterpreterResolver;
  readonly environments: Pick<PythonEnvironments, 'find'>;
  readonly probe: PythonProbe;
  /** Nodeset to interpreter, from Settings. */
  readonly overrides: () => Readonly<Record<string, string>>;
  /** Runs what `server_python` says, in a process of its own. */
  readonly evaluate: (source: NodesetSource) => Promise<string | undefined>;
}

interface Wanted {
  readonly from: ChosenInterpreter['from'];
  readonly request: string | undefined;
  readonly spec: EnvironmentSpec | undefined;
}

export function createInterpreterChoice(options: InterpreterChoiceOptions): InterpreterChoice {
  const { resolve, environments, probe, overrides, evaluate } = options;

  const statedBy = async (source: NodesetSource): Promise<Wanted> => {
    const own = overrides()[source.name];
    if (own !== undefined && own !== '') return requested('settings', own);
    const stated = source.interpreterIsCode ? await evaluate(source) : source.interpreter;
    if (stated !== undefined) return requested('nodeset', stated);
    const spec = source.script === undefined ? undefined : specFromScript(source.script);
    if (spec && spec.requirements.length > 0) return { from: 'script', request: undefined, spec };
    return { from: 'default', request: undefined, spec: undefined };
  };

  /** `uv:` asks for an environment of its own; a block only says what must be there. */
  const needed = async (
    { from, spec }: Wanted,
    source: NodesetSource,
  ): Promise<NeededEnvironment | undefined> => {
    if (!spec) return undefined;
    const built = await environments.find(spec);
    const usable = built || from !== 'script' ? undefined : await usual(source);
    return { spec, built, isUnneeded: usable !== undefined && (await has(usable, spec, probe)) };
  };
  const usual = (source: NodesetSource): Promise<string | undefined> =>
    resolve({ wanted: undefined, baseFolder: path.dirname(source.entry) }).catch(() => undefined);

  return {
    async choose(source) {
      const wanted = await statedBy(source);
      const { from, request } = wanted;
      const environment = await needed(wanted, source);
      if (environment?.built) return { from, path: environment.built.interpreter };
      if (environment && !environment.isUnneeded) throw environmentMissing(source.name, environment.spec);
      const found = await resolve({ wanted: request, baseFolder: path.dirname(source.entry) });
      return { from: environment ? 'default' : from, path: found };
    },
    async environmentOf(source) {
      return await needed(await statedBy(source), source);
    },
  };
}

async function has(
  interpreter: string,
  { requirements, requiresPython }: EnvironmentSpec,
  probe: PythonProbe,
): Promise<boolean> {
  const named = requirements.map(namedRequirement);
  if (named.includes(undefined)) return false;
  const known = named.filter((each) => each !== undefined);
  const facts = await probe
    .ask(interpreter, { distributions: known.map(({ name }) => name) })
    .catch(() => undefined);
  if (!facts || !meetsVersion(facts.version, requiresPython)) return false;
  return known.every(({ name, versions }) => {
    const installed = facts.installed[name];
    return installed !== undefined && meetsVersion(installed, versions);
  });
}

function requested(from: Wanted['from'], request: string): Wanted {
  const text = /^uv:(.*)$/s.exec(request)?.[1];
  return { from, request, spec: text === undefined ? undefined : specFromText(text) };
}

export function buildCommand(name: string): string {
  return `agentcanvas nodesets build-env ${name}`;
}

function environmentMissing(name: string, { requirements, requiresPython }: EnvironmentSpec): StudioError {
  const python = requiresPython === '' ? '' : ` with Python ${requiresPython}`;
  return new StudioError(
    'interpreter_not_found',
    `environment missing${python}: ${requirements.join(', ')}. Build it with \`${buildCommand(name)}\` or on the Nodesets page`,
    { details: { nodeset: name, environment: 'missing', command: buildCommand(name) } },
  );
}
