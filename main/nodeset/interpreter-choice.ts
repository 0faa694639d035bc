// Which interpreter a Python nodeset gets: Settings for this nodeset, what the nodeset states, its PEP 723 block, the
// default. Code in `server_python` is run only when asked to choose, never while scanning.
import path from 'node:path';
import { StudioError } from '../base/errors.ts';
import type { PythonEnvironments } from './environments/python-environments.ts';
import { specFromScript, specFromText, type EnvironmentSpec } from './environments/requirements.ts';
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
  environmentOf(source: NodesetSource): Promise<EnvironmentSpec | undefined>;
}

export interface InterpreterChoiceOptions {
  /** Takes every form but `uv:`. */
  readonly resolve: InterpreterResolver;
  readonly environments: Pick<PythonEnvironments, 'find'>;
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
  const { resolve, environments, overrides, evaluate } = options;

  const statedBy = async (source: NodesetSource): Promise<Wanted> => {
    const own = overrides()[source.name];
    if (own !== undefined && own !== '') return requested('settings', own);
    const stated = source.interpreterIsCode ? await evaluate(source) : source.interpreter;
    if (stated !== undefined) return requested('nodeset', stated);
    const spec = source.script === undefined ? undefined : specFromScript(source.script);
    if (spec && spec.requirements.length > 0) return { from: 'script', request: undefined, spec };
    return { from: 'default', request: undefined, spec: undefined };
  };

  return {
    async choose(source) {
      const { from, request, spec } = await statedBy(source);
      if (!spec)
        return { from, path: await resolve({ wanted: request, baseFolder: path.dirname(source.entry) }) };
      const built = await environments.find(spec);
      if (built) return { from, path: built.interpreter };
      throw environmentMissing(source.name, spec);
    },
    async environmentOf(source) {
      return (await statedBy(source)).spec;
    },
  };
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
