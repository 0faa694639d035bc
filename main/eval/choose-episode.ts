// Driving an env panel: selectors in cascade order (only those that differ), then the episode, then the seed where
// the panel has one, then `play`, then `load`. Knows the aliases instr_id and scan.
import { StudioError, toStudioError } from '../base/errors.ts';
import type { PanelInfo, PanelState } from '../contract/nodeset.ts';
import type { PlannedEpisode } from '../contract/run.ts';
import type { CallLimits, EnvPanelClient } from '../nodeset/ports.ts';

const indexField = 'episode_index';
const idFields = ['episode_id', 'instr_id'];
const seedField = 'seed';

/** What the environment says it stands at. */
export interface ChosenEpisode {
  readonly episodeId: string | null;
  readonly sceneId: string | null;
  readonly instruction: string | null;
  /** Of this episode; null when the panel names none. */
  readonly stepBudget: number | null;
}

export interface EpisodeChoice {
  readonly panel: EnvPanelClient;
  readonly info: PanelInfo;
  readonly selectors: Readonly<Record<string, string>>;
  readonly episode: Pick<PlannedEpisode, 'episodeIndex' | 'episodeId'>;
  /** Pushed to the panel's `seed` field unless the selectors set it: part of the episode, not of the run. */
  readonly environmentSeed: number;
  /** The panel's state as the previous episode left it; saves asking for it. */
  readonly known?: PanelState | undefined;
  readonly limits?: CallLimits;
}

/**
 * Resets the environment to the episode. Resolves with the panel's state then, to be given as `known` next time.
 * Throws `episode_unknown`, `not_found`, or what the panel threw.
 */
export async function chooseEpisode(
  choice: EpisodeChoice,
): Promise<{ readonly chosen: ChosenEpisode; readonly state: PanelState }> {
  const { panel, info, episode, limits } = choice;
  let state = await pushSelectors(choice);
  if (episode.episodeId !== null) {
    state = await changed(panel, idFieldOf(info), episode.episodeId, limits);
  } else if (episode.episodeIndex !== null && hasField(info, indexField)) {
    state = await changed(panel, indexField, episode.episodeIndex, limits);
  }
  if (hasField(info, seedField) && choice.selectors[seedField] === undefined) {
    state = await changed(panel, seedField, choice.environmentSeed, limits);
  }
  refuseUnavailable(await panel.act(resetAction(info), state.values, limits), 'reset');
  const settled = refuseUnavailable(await panel.load(limits), 'reset');
  return { chosen: checkedEpisode(settled, episode.episodeId), state: settled };
}

/** Pushes the selectors that differ from what the panel shows. Throws `not_found` for one the panel does not have. */
export async function pushSelectors(
  choice: Pick<EpisodeChoice, 'panel' | 'info' | 'selectors' | 'known' | 'limits'>,
): Promise<PanelState> {
  const { panel, info, selectors, known, limits } = choice;
  refuseUnknownSelectors(info, selectors);
  // Judged at the end: an environment may be available only once it was told where its data is.
  let state = known ?? (await panel.load(limits));
  for (const field of info.fields) {
    const wanted = selectors[field.name];
    if (wanted === undefined || String(state.values[field.name]) === wanted) continue;
    state = await changed(panel, field.name, typedAs(field.kind, wanted), limits);
  }
  return refuseUnavailable(state, 'load');
}

/** Selectors before the episode in the cascade: with the episode's index or id they are its identity. */
export function selectionOf(
  info: PanelInfo,
  state: PanelState,
  selectors: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const selection: Record<string, unknown> = {};
  for (const { name } of info.fields) {
    if (name === indexField || idFields.includes(name)) break;
    if (name === seedField && selectors[name] === undefined) continue;
    if (state.values[name] !== undefined) selection[name] = state.values[name];
  }
  return selection;
}

/** Refuses names the panel does not have, with those it has. */
export function refuseUnknownSelectors(info: PanelInfo, selectors: Readonly<Record<string, string>>): void {
  const names = info.fields.map((field) => field.name);
  const unknown = Object.keys(selectors).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const known = names.length > 0 ? `It has: ${names.join(', ')}.` : 'It has none.';
  throw new StudioError('not_found', `The environment has no selector "${unknown}". ${known}`);
}

/** Refuses a value that the panel's list of options, where it has one, does not hold. */
export async function refuseUnknownValues(
  choice: Pick<EpisodeChoice, 'panel' | 'info' | 'selectors' | 'limits'>,
): Promise<void> {
  const { panel, info, selectors, limits } = choice;
  for (const field of info.fields) {
    const wanted = selectors[field.name];
    if (wanted === undefined || field.kind !== 'select') continue;
    const options = (await panel.options(field.name, limits)).map(optionValue);
    if (options.length === 0 || options.includes(wanted)) continue;
    const shown = options.slice(0, 20).join(', ') + (options.length > 20 ? ', …' : '');
    throw new StudioError(
      'not_found',
      `"${wanted}" is not a ${field.name} of the environment. Choose one of: ${shown}.`,
    );
  }
}

/**
 * Index in the split of each id, where the panel shows one after an id was pushed. Throws `episode_unknown` for an id
 * the environment refuses.
 */
export async function locateEpisodes(
  choice: Pick<EpisodeChoice, 'panel' | 'info' | 'limits'>,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const { panel, info, limits } = choice;
  const found = new Map<string, number>();
  const field = idFieldOf(info);
  for (const id of ids) {
    const state = await changed(panel, field, id, limits).catch((error: unknown) => {
      const cause = toStudioError(error, 'remote_error');
      throw cause.code === 'remote_error'
        ? new StudioError('episode_unknown', `There is no episode "${id}": ${cause.message}`, { cause })
        : cause;
    });
    const index = state.values[indexField];
    if (typeof index === 'number') found.set(id, index);
  }
  return found;
}

export function hasField(info: PanelInfo, name: string): boolean {
  return info.fields.some((field) => field.name === name);
}

function idFieldOf(info: PanelInfo): string {
  const field = idFields.find((name) => hasField(info, name));
  if (field !== undefined) return field;
  throw new StudioError('unsupported', 'The environment cannot choose episodes by id. Use indices instead.');
}

function resetAction(info: PanelInfo): string {
  const names = info.actions.map((action) => action.name);
  const found = ['play', 'reset'].find((name) => names.includes(name));
  if (found !== undefined) return found;
  throw new StudioError('unsupported', 'The env panel has no action "play", which starts an episode.');
}

async function changed(
  panel: EnvPanelClient,
  field: string,
  value: unknown,
  limits: CallLimits | undefined,
): Promise<PanelState> {
  try {
    return refuseUnavailable(await panel.changeField(field, value, limits), field);
  } catch (error) {
    throw toStudioError(error, 'remote_error').within({ phase: `set ${field}` });
  }
}

function refuseUnavailable(state: PanelState, what: string): PanelState {
  if (state.error) throw new StudioError('remote_error', `The env panel says (${what}): ${state.error}`);
  if (!state.available) {
    throw new StudioError(
      'remote_error',
      `The environment is not available (${what}): ${state.message ?? 'no reason given'}`,
    );
  }
  return state;
}

function checkedEpisode(state: PanelState, wantedId: string | null): ChosenEpisode {
  const current: Readonly<Record<string, unknown>> = state.currentEpisode ?? {};
  const episodeId = firstText(current, ['episodeId', 'episode_id', 'instrId', 'instr_id']);
  if (wantedId !== null && episodeId !== null && episodeId !== wantedId) {
    const message = `Episode "${wantedId}" was asked for, but the environment stands at "${episodeId}". Check the id.`;
    throw new StudioError('episode_unknown', message);
  }
  return {
    episodeId: episodeId ?? wantedId,
    sceneId: firstText(current, ['sceneId', 'scene_id', 'scan']),
    instruction: firstText(current, ['instruction']),
    stepBudget: state.stepBudget ?? null,
  };
}

function firstText(record: Readonly<Record<string, unknown>>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = record[name];
    if (typeof value === 'string' || typeof value === 'number') return String(value);
  }
  return null;
}

function typedAs(kind: PanelInfo['fields'][number]['kind'], text: string): unknown {
  const isNumeric =
    (kind === 'number' || kind === 'slider') && text.trim() !== '' && Number.isFinite(Number(text));
  return isNumeric ? Number(text) : text;
}

function optionValue(option: unknown): string {
  if (option !== null && typeof option === 'object' && 'value' in option) return String(option.value);
  return String(option);
}
