// One spawner that sends each start where it belongs.
import { StudioError } from '../../base/errors.ts';
import type { SpawnPlace } from '../../contract/spawners.ts';
import type { Spawner } from './spawner.ts';

export function createPlacedSpawner(places: Readonly<Partial<Record<SpawnPlace, Spawner>>>): Spawner {
  return {
    place: 'local',
    start(request) {
      const place = request.placement?.place ?? 'local';
      const spawner = places[place];
      if (spawner) return spawner.start(request);
      return Promise.reject(
        new StudioError('unsupported', `this engine starts nothing in "${place}"; choose another spawner`),
      );
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(places).map(async (spawner) => await spawner[Symbol.asyncDispose]?.()));
    },
  };
}
