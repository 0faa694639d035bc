// The environments the app builds for Python nodesets: found by what they contain, built once however many nodesets
// ask, cancelled when nobody waits any more.
import path from 'node:path';
import { existsSync } from 'node:fs';
import os from 'node:os';
import { withDeadline } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import {
  buildEnvironment,
  type BuildPorts,
  type BuildStage,
  type BuildWatcher,
} from './build-environment.ts';
import { environmentKey, EnvironmentFolder, type BuiltEnvironment } from './environment-folder.ts';
import type { PythonProbe } from './python-probe.ts';
import { pythonCandidates } from './python-versions.ts';
import type { EnvironmentSpec } from './requirements.ts';

export interface PythonEnvironments extends AsyncDisposable {
  find(spec: EnvironmentSpec): Promise<BuiltEnvironment | undefined>;
  /** Joins a build that goes on. Rejects with `aborted` when `signal` is or `cancel` was called. */
  build(
    spec: EnvironmentSpec,
    watcher: BuildWatcher & { readonly signal?: AbortSignal | undefined },
  ): Promise<BuiltEnvironment>;
  /** Ends a build for everybody who waits for it. */
  cancel(spec: EnvironmentSpec): void;
}

export interface PythonEnvironmentsOptions {
  readonly processes: Pick<ProcessRegistry, 'spawn'>;
  readonly clock: Clock;
  readonly probe: PythonProbe;
  /** Where they are kept: beside other things of the user, shared by all workspaces. */
  readonly folder: string;
  /** Interpreter of Settings, resolved; tried before those of PATH. */
  readonly preferred: () => Promise<string | undefined>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

interface Building {
  readonly done: Promise<BuiltEnvironment>;
  readonly stop: AbortController;
  readonly watchers: Set<BuildWatcher>;
  lastStage: { readonly stage: BuildStage; readonly elapsedMs: number } | undefined;
}

const wholeBuildMs = 2 * 60 * 60_000;

export function createPythonEnvironments(options: PythonEnvironmentsOptions): PythonEnvironments {
  return new SharedBuilds(options);
}

class SharedBuilds implements PythonEnvironments {
  readonly #ports: BuildPorts;
  readonly #running = new Map<string, Building>();

  constructor(options: PythonEnvironmentsOptions) {
    const { processes, clock, probe, preferred, environment = process.env } = options;
    this.#ports = {
      processes,
      clock,
      probe,
      folder: new EnvironmentFolder(options.folder, () => clock.now()),
      uv: () => programOnPath('uv', environment),
      candidates: async () => {
        const first = await preferred();
        const rest = pythonCandidates({ environment, homeFolder: os.homedir() });
        return first === undefined ? rest : [first, ...rest];
      },
    };
  }

  find(spec: EnvironmentSpec): Promise<BuiltEnvironment | undefined> {
    return this.#ports.folder.find(environmentKey(spec));
  }

  async build(
    spec: EnvironmentSpec,
    watcher: BuildWatcher & { readonly signal?: AbortSignal | undefined },
  ): Promise<BuiltEnvironment> {
    const key = environmentKey(spec);
    const building = this.#running.get(key) ?? this.#start(spec, key);
    building.watchers.add(watcher);
    if (building.lastStage) watcher.onStage(building.lastStage.stage, building.lastStage.elapsedMs);
    try {
      return await withDeadline(building.done, {
        clock: this.#ports.clock,
        timeoutMs: wholeBuildMs,
        signal: watcher.signal,
        what: 'building the environment',
      });
    } finally {
      building.watchers.delete(watcher);
      if (building.watchers.size === 0)
        building.stop.abort(stopped('nobody waits for the environment any more'));
      if (watcher.signal?.aborted) await building.done.catch(() => undefined);
    }
  }

  cancel(spec: EnvironmentSpec): void {
    const building = this.#running.get(environmentKey(spec));
    building?.stop.abort(stopped('the build of the environment was cancelled'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#running.values()];
    for (const each of all) each.stop.abort(stopped('the engine stops'));
    await Promise.allSettled(all.map((each) => each.done));
  }

  #start(spec: EnvironmentSpec, key: string): Building {
    const stop = new AbortController();
    const watchers = new Set<BuildWatcher>();
    const watch = {
      signal: stop.signal,
      onLine: (line: string) => watchers.forEach((each) => each.onLine(line)),
      onStage: (stage: BuildStage, elapsedMs: number) => {
        building.lastStage = { stage, elapsedMs };
        watchers.forEach((each) => each.onStage(stage, elapsedMs));
      },
    };
    // In a later turn: whoever starts it watches its first stage too.
    const done = Promise.resolve()
      .then(() => buildEnvironment(spec, this.#ports, watch))
      .finally(() => this.#running.delete(key));
    const building: Building = { done, stop, watchers, lastStage: undefined };
    this.#running.set(key, building);
    return building;
  }
}

function stopped(why: string): StudioError {
  return new StudioError('aborted', why);
}

function programOnPath(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const fileName = process.platform === 'win32' ? `${name}.exe` : name;
  return (environment['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, fileName))
    .find((file) => existsSync(file));
}
