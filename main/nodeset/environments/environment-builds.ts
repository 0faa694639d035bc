// The environment of each nodeset as the registry shows it: what it needs, whether that is there, how far a build is.
import { messageOf, StudioError, isAbort } from '../../base/errors.ts';
import { buildCommand, type InterpreterChoice, type NeededEnvironment } from '../interpreter-choice.ts';
import type { KnownNodeset } from '../known-nodeset.ts';
import type { PythonEnvironments } from './python-environments.ts';
import type { EnvironmentSpec } from './requirements.ts';

export interface EnvironmentBuildsOptions {
  readonly interpreters: InterpreterChoice | undefined;
  readonly environments: PythonEnvironments | undefined;
  /** Where the lines of a nodeset's build go. */
  readonly logLineFor: (name: string) => (line: string, stream: 'stdout') => void;
}

type Change = Partial<NonNullable<KnownNodeset['environment']>>;

export class EnvironmentBuilds {
  readonly #options: EnvironmentBuildsOptions;

  constructor(options: EnvironmentBuildsOptions) {
    this.#options = options;
  }

  /** Before a nodeset is described: what it needs. While a build goes on nothing is changed. */
  async look(known: KnownNodeset): Promise<void> {
    if (known.environment?.state === 'building') return;
    const needed = await this.#neededBy(known);
    if (!needed) return known.showEnvironment(undefined);
    const { spec, built, isUnneeded } = needed;
    this.#show(
      known,
      spec,
      built ? { state: 'ready', folder: built.folder } : { state: isUnneeded ? 'unneeded' : 'missing' },
    );
  }

  /** Rejects with why it failed; the nodeset shows it too. */
  async build(known: KnownNodeset, signal: AbortSignal | undefined): Promise<void> {
    const { environments, logLineFor } = this.#options;
    const { name } = known.source;
    const spec = (await this.#neededBy(known))?.spec;
    if (!spec || !environments)
      throw new StudioError(
        'unsupported',
        `"${name}" asks for no environment; give its file a "# /// script" block with dependencies, or server_python = "uv:PACKAGES"`,
      );
    const line = logLineFor(name);
    this.#show(known, spec, { state: 'building', stage: 'resolving', elapsedMs: 0 });
    try {
      const { folder } = await environments.build(spec, {
        signal,
        onLine: (text) => line(text, 'stdout'),
        onStage: (stage, elapsedMs) => this.#show(known, spec, { state: 'building', stage, elapsedMs }),
      });
      this.#show(known, spec, { state: 'ready', folder });
    } catch (error) {
      line(`[failed] ${messageOf(error)}`, 'stdout');
      this.#show(known, spec, { state: 'failed', message: messageOf(error) });
      if (isAbort(error)) await this.look(known);
      throw error;
    }
  }

  async cancel(known: KnownNodeset): Promise<void> {
    const needed = await this.#neededBy(known);
    if (needed) this.#options.environments?.cancel(needed.spec);
  }

  async #neededBy({ source }: KnownNodeset): Promise<NeededEnvironment | undefined> {
    if (source.language !== 'python' || source.origin === 'attached') return undefined;
    return await this.#options.interpreters?.environmentOf(source);
  }

  #show(known: KnownNodeset, { requirements, requiresPython }: EnvironmentSpec, change: Change): void {
    const command = buildCommand(known.source.name);
    known.showEnvironment({
      state: 'missing',
      requirements: [...requirements],
      requiresPython,
      command,
      ...change,
    });
  }
}
