// Every place an engine can start hosts in, over one registry of processes.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { SpawnerSettings } from '../../contract/spawners.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import { DockerSpawner } from './docker.ts';
import { createLocalProcessSpawner } from './local-process.ts';
import { createPlacedSpawner } from './placed-spawner.ts';
import { RaySpawner } from './ray.ts';
import type { Spawner } from './spawner.ts';

export interface AllPlacesOptions {
  readonly processes: ProcessRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pythonFolder: string;
  /** Outlives the engine: ids of containers. */
  readonly recordsFolder: string;
  readonly settings: () => SpawnerSettings;
  readonly resolveInterpreter: (wanted: string) => Promise<string>;
  /** Takes secrets out of what replicas print elsewhere. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** Removes what an engine that was killed left in containers, in the background. */
export function createAllPlaces(options: AllPlacesOptions): Spawner {
  const { processes, clock, logger, pythonFolder, recordsFolder, settings, resolveInterpreter } = options;
  const common = { processes, clock, logger };
  const docker = new DockerSpawner({ ...common, recordsFolder, command: () => settings().docker.command });
  docker.sweepLeftBehind().catch((error: unknown) => {
    logger.warn('containers of an earlier start could not be removed', { error: String(error) });
  });
  const { redact } = options;
  const ray = new RaySpawner({
    ...common,
    pythonFolder,
    settings: () => settings().ray,
    resolveInterpreter,
    redact,
  });
  return createPlacedSpawner({ local: createLocalProcessSpawner(processes), docker, ray });
}
