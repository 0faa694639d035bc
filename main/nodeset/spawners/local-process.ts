// Host processes on this machine, as children of the engine.
import type { ProcessRegistry } from '../../process/ports.ts';
import type { Spawner } from './spawner.ts';

export function createLocalProcessSpawner(processes: Pick<ProcessRegistry, 'startHost'>): Spawner {
  return { place: 'local', start: ({ placement: _placement, ...options }) => processes.startHost(options) };
}
