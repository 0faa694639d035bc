// Everything Python nodesets need, put together over one registry of processes: finder, interpreters, environments,
// launcher. Settings are read at each use, so a change holds from the next start on.
import type { Clock } from '../base/clock.ts';
import type { Settings } from '../contract/settings.ts';
import type { ProcessRegistry } from '../process/ports.ts';
import { createPythonEnvironments, type PythonEnvironments } from './environments/python-environments.ts';
import { createPythonProbe, type PythonProbe } from './environments/python-probe.ts';
import type { HostLauncher } from './hosts/launcher.ts';
import { createPythonFinder } from './hosts/python-finder.ts';
import { createPythonLauncher } from './hosts/python-launcher.ts';
import { createStatedInterpreter } from './hosts/stated-interpreter.ts';
import { createInterpreterChoice, type InterpreterChoice } from './interpreter-choice.ts';
import { createInterpreterResolver } from './interpreter-resolver.ts';
import type { PythonFinder } from './scan.ts';

export interface PythonLayerOptions {
  readonly clock: Clock;
  readonly processes: Pick<ProcessRegistry, 'spawn'>;
  /** Folder that holds `agentcanvas_host` and the helper programs. */
  readonly pythonFolder: string;
  readonly environmentsFolder: string;
  readonly settings: () => Pick<Settings, 'python' | 'interpreters'>;
  /** Default: the engine's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface PythonLayer {
  readonly find: PythonFinder;
  readonly choice: InterpreterChoice;
  readonly environments: PythonEnvironments;
  readonly launcher: HostLauncher;
  readonly probe: PythonProbe;
  /** What Settings name, or the default for an empty text, as an absolute interpreter. */
  readonly resolve: (wanted: string) => Promise<string>;
}

export function createPythonLayer(options: PythonLayerOptions): PythonLayer {
  const { clock, processes, pythonFolder, settings, environment = process.env } = options;
  const resolve = createInterpreterResolver({
    environment,
    get defaultInterpreter() {
      return settings().python || undefined;
    },
  });
  const interpreter = (): Promise<string> => resolve({ wanted: undefined, baseFolder: pythonFolder });
  const helper = { processes, clock, interpreter, pythonFolder };
  const probe = createPythonProbe({ processes, clock });
  const environments = createPythonEnvironments({
    processes,
    clock,
    probe,
    folder: options.environmentsFolder,
    environment,
    preferred: () => interpreter().catch(() => undefined),
  });
  const choice = createInterpreterChoice({
    resolve,
    environments,
    probe,
    overrides: () => settings().interpreters,
    evaluate: createStatedInterpreter(helper),
  });
  const launcher = createPythonLauncher({ pythonFolder, resolveInterpreter: resolve, probe });
  const named = (wanted: string): Promise<string> =>
    resolve({ wanted: wanted === '' ? undefined : wanted, baseFolder: pythonFolder });
  return { find: createPythonFinder(helper), choice, environments, launcher, probe, resolve: named };
}
