// Command line of the Python host: the interpreter the nodeset or the settings name, with the app's host package on
// PYTHONPATH. Nothing is installed into that interpreter.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { StudioError } from '../../base/errors.ts';
import type { HostLauncher } from './launcher.ts';

/** What a nodeset asks for (`server_python`) to an absolute interpreter, or why not. */
export type InterpreterResolver = (wanted: string | undefined) => Promise<string>;

export interface PythonLauncherOptions {
  /** Folder that holds `agentcanvas_host`. */
  readonly pythonFolder: string;
  readonly resolveInterpreter: InterpreterResolver;
}

export function createPythonLauncher(options: PythonLauncherOptions): HostLauncher {
  return {
    async commandFor({ version, instance }) {
      const { source } = version;
      if (source.className === undefined)
        throw new StudioError('internal', `nodeset "${source.name}" has no class to serve`);
      const command = await options.resolveInterpreter(source.interpreter);
      const args = [
        '-m',
        'agentcanvas_host',
        '--file',
        source.entry,
        '--class',
        source.className,
        '--instance',
        instance,
      ];
      const inherited = source.env?.['PYTHONPATH'] ?? process.env['PYTHONPATH'];
      const PYTHONPATH = inherited
        ? `${options.pythonFolder}${path.delimiter}${inherited}`
        : options.pythonFolder;
      return { command, args, cwd: path.dirname(source.entry), env: { ...source.env, PYTHONPATH } };
    },
  };
}

/** An absolute path, or a name on PATH; without a wish the default, then `python3`. */
export function createPathResolver(defaultInterpreter?: string): InterpreterResolver {
  return (wanted) => {
    const name = wanted ?? defaultInterpreter ?? (process.platform === 'win32' ? 'python.exe' : 'python3');
    if (path.isAbsolute(name)) {
      if (existsSync(name)) return Promise.resolve(name);
      throw notFound(name, [name]);
    }
    const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
    const candidates = folders.map((folder) => path.join(folder, name));
    const found = candidates.find((candidate) => existsSync(candidate));
    if (found === undefined) throw notFound(name, candidates);
    return Promise.resolve(found);
  };
}

function notFound(name: string, looked: readonly string[]): StudioError {
  return new StudioError(
    'interpreter_not_found',
    `the interpreter "${name}" was not found; install it, or name another one in the nodeset's server_python or in Settings`,
    {
      details: { looked: [...looked] },
    },
  );
}
