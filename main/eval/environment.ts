// What a loaded environment says, before a run: its metadata, its panel with the selectors pushed, and the set of
// episodes they lead to. Read from a living replica, so that counts are real.
import { StudioError } from '../base/errors.ts';
import type { EvalConfig } from '../contract/eval-config.ts';
import type { EvalMetadata, PanelInfo } from '../contract/nodeset.ts';
import type { CallLimits, EnvPanelClient, GraphSession } from '../nodeset/ports.ts';
import {
  locateEpisodes,
  pushSelectors,
  refuseUnknownSelectors,
  refuseUnknownValues,
  selectionOf,
} from './choose-episode.ts';
import type { EpisodeSpace } from './episode-source.ts';

export interface Environment {
  readonly nodeset: string;
  readonly metadata: EvalMetadata;
  readonly info: PanelInfo;
  readonly space: EpisodeSpace;
  readonly split: string | null;
  /** Of the episode the panel stands at; null when the panel names none. */
  readonly stepBudget: number | null;
}

/** The environment nodeset a run uses; null for a graph without one. */
export function chooseEnvNodeset(wanted: string | undefined, available: readonly string[]): string | null {
  if (wanted !== undefined) {
    if (available.includes(wanted)) return wanted;
    const has = available.length > 0 ? `It has: ${available.join(', ')}.` : 'It has none.';
    throw new StudioError('nodeset_unknown', `The graph has no environment "${wanted}". ${has}`);
  }
  if (available.length > 1) {
    throw new StudioError(
      'invalid_input',
      `The graph has several environments (${available.join(', ')}). Name one with envNodeset.`,
    );
  }
  return available[0] ?? null;
}

/** Throws `not_found` for selectors and values the environment does not have. */
export async function describeEnvironment(
  session: Pick<GraphSession, 'envNodesets' | 'initial' | 'evalMetadata'>,
  config: Pick<EvalConfig, 'envNodeset' | 'selectors'> & Partial<Pick<EvalConfig, 'episodes'>>,
  limits: CallLimits = {},
): Promise<Environment | null> {
  const nodeset = chooseEnvNodeset(config.envNodeset, session.envNodesets);
  const first = session.initial[0];
  if (nodeset === null || !first) {
    refuseUnknownSelectors({ fields: [], actions: [] }, config.selectors);
    return null;
  }
  const panel = first.panel(nodeset);
  const metadata = await session.evalMetadata(nodeset, limits);
  return { nodeset, metadata, ...(await readPanel(panel, metadata, config, limits)) };
}

async function readPanel(
  panel: EnvPanelClient,
  metadata: EvalMetadata,
  { selectors, episodes }: Pick<EvalConfig, 'selectors'> & Partial<Pick<EvalConfig, 'episodes'>>,
  limits: CallLimits,
): Promise<Pick<Environment, 'info' | 'space' | 'split' | 'stepBudget'>> {
  const info = await panel.info(limits);
  refuseUnknownSelectors(info, selectors);
  refuseUnknownSplit(metadata, selectors);
  // Options of a field may depend on the fields before it, so a value is looked for once those are pushed.
  for (const { name } of info.fields) {
    const value = selectors[name];
    if (value === undefined) continue;
    await refuseUnknownValues({ panel, info, selectors: { [name]: value }, limits });
    await pushSelectors({ panel, info, selectors: { [name]: value }, limits });
  }
  const state = await panel.load(limits);
  const split = textOf(state.values['split']) ?? selectors['split'] ?? null;
  const counted = state.episodeCount ?? (split === null ? undefined : metadata.episodeCounts?.[split]);
  const canChoose = metadata.supportsSetEpisode && info.fields.some(({ name }) => isEpisodeField(name));
  const ids = typeof episodes === 'object' && 'ids' in episodes ? episodes.ids : [];
  const indexOfId =
    ids.length > 0 && canChoose ? await locateEpisodes({ panel, info, limits }, ids) : undefined;
  return {
    info,
    split,
    stepBudget: state.stepBudget ?? metadata.stepBudget,
    space: {
      envName: metadata.envName,
      selection: selectionOf(info, state, selectors),
      label: split ?? 'the selection',
      episodeCount: counted ?? null,
      canChoose,
      indexOfId,
    },
  };
}

function refuseUnknownSplit(metadata: EvalMetadata, selectors: Readonly<Record<string, string>>): void {
  const split = selectors['split'];
  if (split === undefined || metadata.splits.length === 0 || metadata.splits.includes(split)) return;
  throw new StudioError(
    'not_found',
    `${metadata.envName} has no split "${split}". Choose one of: ${metadata.splits.join(', ')}.`,
  );
}

function isEpisodeField(name: string): boolean {
  return name === 'episode_index' || name === 'episode_id' || name === 'instr_id';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The episodes of a graph that needs no environment: they can only be counted. */
export function spaceWithoutEnvironment(graphName: string): EpisodeSpace {
  return { envName: graphName, selection: {}, label: graphName, episodeCount: null, canChoose: false };
}
