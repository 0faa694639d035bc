// The check of one known nodeset's place; undefined where it runs on this machine anyway.
import { messageOf } from '../base/errors.ts';
import type { SpawnPlace } from '../contract/spawners.ts';
import type { KnownNodeset } from './known-nodeset.ts';
import type { PlaceCheck, PlaceChecker } from './spawners/check-place.ts';
import type { NodesetRuntime } from './start-live.ts';

export async function placeCheckOf(
  { source, version }: Pick<KnownNodeset, 'source' | 'version'>,
  asked: {
    readonly placeOf: NodesetRuntime['placeOf'];
    readonly checkPlace: PlaceChecker | undefined;
    readonly forRun: SpawnPlace | undefined;
  },
): Promise<PlaceCheck | undefined> {
  const { placeOf, checkPlace, forRun } = asked;
  if (source.origin === 'attached' || !placeOf || !checkPlace) return undefined;
  // A run's word is about processes per worker.
  const wish = version === undefined || version.manifest.parallelism === 'replicated' ? forRun : undefined;
  let place: SpawnPlace;
  try {
    place = placeOf(source, wish);
  } catch (error) {
    const about = { nodeset: source.name, place: wish ?? 'local', ok: false, warning: false, command: '' };
    return { ...about, output: messageOf(error), fix: 'Choose another spawner.' };
  }
  if (place === 'local') return undefined;
  return await checkPlace({ source, place, interpreter: version?.interpreter?.path });
}
