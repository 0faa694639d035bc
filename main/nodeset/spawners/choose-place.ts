// Where the processes of one nodeset run: the run, then Settings for this nodeset, then the nodeset, then Settings.
import { StudioError } from '../../base/errors.ts';
import type { ServerNeeds, SpawnerSettings, SpawnPlace } from '../../contract/spawners.ts';

export interface PlaceQuestion {
  readonly name: string;
  readonly language: 'typescript' | 'python';
  readonly needs?: ServerNeeds | undefined;
}

/** Throws `invalid_input` when what was asked for cannot be. */
export function choosePlace(
  nodeset: PlaceQuestion,
  settings: SpawnerSettings,
  forRun?: SpawnPlace,
): SpawnPlace {
  const { name, language, needs } = nodeset;
  const own = settings.nodesets[name];
  // The app compiles these for its own Node; whatever a run says about its environments is about Python ones.
  if (language === 'typescript') return own === undefined ? 'local' : refuse(name, own);
  const image = needs?.image ?? undefined;
  const asked = forRun ?? own ?? needs?.spawner ?? undefined;
  if (asked === 'docker' && image === undefined)
    throw new StudioError(
      'invalid_input',
      `nodeset "${name}" cannot run in Docker: it names no image. Set server_image in its class, or choose another spawner`,
    );
  if (asked !== undefined) return asked;
  if (settings.default === 'auto') return image === undefined ? 'local' : 'docker';
  return settings.default === 'docker' && image === undefined ? 'local' : settings.default;
}

function refuse(name: string, place: SpawnPlace): SpawnPlace {
  if (place === 'local') return place;
  throw new StudioError(
    'invalid_input',
    `nodeset "${name}" is written in TypeScript and runs on this machine only; take it out of Settings, Spawners`,
  );
}
