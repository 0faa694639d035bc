// Command line of the Python host: the interpreter the nodeset or the settings name, with the app's host package on
// PYTHONPATH. Nothing is installed into that interpreter.
import path from 'node:path';
import { StudioError } from '../../base/errors.ts';
import type { PythonProbe } from '../environments/python-probe.ts';
import type { InterpreterResolver } from '../interpreter-resolver.ts';
import type { HostLauncher } from './launcher.ts';
import { explainPythonFailure } from './python-failure.ts';

export interface PythonLauncherOptions {
  /** Folder that holds `agentcanvas_host`. */
  readonly pythonFolder: string;
  readonly resolveInterpreter: InterpreterResolver;
  /** Without it a failed start says only what the host said. */
  readonly probe?: PythonProbe | undefined;
}

export function createPythonLauncher(options: PythonLauncherOptions): HostLauncher {
  return {
    async commandFor({ version, instance, place = 'local', channelCount = 1 }) {
      const { source, interpreter } = version;
      if (source.className === undefined)
        throw new StudioError('internal', `nodeset "${source.name}" has no class to serve`);
      // An image brings its own; what this machine has means nothing there.
      const command =
        place === 'docker'
          ? 'python3'
          : (interpreter?.path ??
            (await options.resolveInterpreter({
              wanted: source.interpreter,
              baseFolder: path.dirname(source.entry),
            })));
      const args = [
        '-m',
        'agentcanvas_host',
        '--file',
        source.entry,
        '--class',
        source.className,
        '--instance',
        instance,
        ...(channelCount > 1 ? ['--slots', String(channelCount)] : []),
      ];
      const ofEngine = place === 'local' ? process.env['PYTHONPATH'] : undefined;
      const inherited = source.env?.['PYTHONPATH'] ?? ofEngine;
      const files = [options.pythonFolder, source.path];
      const common = { command, args, cwd: path.dirname(source.entry), files };
      const PYTHONPATH = inherited
        ? `${options.pythonFolder}${path.delimiter}${inherited}`
        : options.pythonFolder;
      if (place !== 'local') return { ...common, env: { ...source.env, PYTHONPATH } };
      const explain = (failure: StudioError): Promise<StudioError> =>
        explainPythonFailure(failure, { nodeset: source.name, interpreter: command, probe: options.probe });
      return { ...common, env: { ...source.env, PYTHONPATH }, explain };
    },
  };
}
