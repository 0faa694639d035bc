import { describe, expect, it } from 'vitest';
import type { EnvPanelClient } from '../nodeset/ports.ts';
import type { PanelInfo } from '../contract/nodeset.ts';
import {
  chooseEpisode,
  pushSelectors,
  refuseUnknownValues,
  selectionOf,
  type EpisodeChoice,
} from './choose-episode.ts';
import { createFakePanel, type FakePanel } from './testing/fake-panel.ts';

const byIndex = (episodeIndex: number): EpisodeChoice['episode'] => ({ episodeIndex, episodeId: null });
const byId = (episodeId: string): EpisodeChoice['episode'] => ({ episodeIndex: null, episodeId });

async function choice(panel: FakePanel, more: Partial<EpisodeChoice> = {}): Promise<EpisodeChoice> {
  return {
    panel,
    info: await panel.info(),
    selectors: {},
    episode: byIndex(3),
    environmentSeed: 42,
    ...more,
  };
}

describe('choosing an episode', () => {
  it('pushes the selectors that differ, then the index, then play, then loads', async () => {
    const panel = createFakePanel();
    const { chosen } = await chooseEpisode(await choice(panel, { selectors: { split: 'val_unseen' } }));
    expect(panel.calls).toEqual(['load', 'split=val_unseen', 'episode_index=3', 'play', 'load']);
    expect(chosen).toEqual({ episodeId: 'ep3', sceneId: 'scene-1', instruction: 'go', stepBudget: null });
  });

  it('pushes no selector that already stands, and asks nothing it knows from the last episode', async () => {
    const panel = createFakePanel();
    const first = await chooseEpisode(await choice(panel, { selectors: { split: 'val_unseen' } }));
    const before = panel.calls.length;
    await chooseEpisode(
      await choice(panel, { selectors: { split: 'val_unseen' }, episode: byIndex(4), known: first.state }),
    );
    expect(panel.calls.slice(before)).toEqual(['episode_index=4', 'play', 'load']);
  });

  it('follows the order of the cascade, not that of the selectors', async () => {
    const panel = createFakePanel({ fields: ['dataset', 'split', 'task', 'episode_index'] });
    await chooseEpisode(await choice(panel, { selectors: { task: 'a', split: 'val_seen', dataset: 'r2r' } }));
    expect(panel.calls.slice(1, 4)).toEqual(['dataset=r2r', 'split=val_seen', 'task=a']);
  });

  it('pushes the environment seed after the index where the panel has one, unless a selector sets it', async () => {
    const seeded = createFakePanel({ fields: ['split', 'episode_index', 'seed'] });
    await chooseEpisode(await choice(seeded));
    expect(seeded.calls).toEqual(['load', 'episode_index=3', 'seed=42', 'play', 'load']);
    const chosen = createFakePanel({ fields: ['split', 'episode_index', 'seed'] });
    await chooseEpisode(await choice(chosen, { selectors: { seed: '7' } }));
    expect(chosen.calls).toEqual(['load', 'seed=7', 'episode_index=3', 'play', 'load']);
  });

  it('chooses by id, also where the field is called instr_id and the scene scan', async () => {
    const panel = createFakePanel({
      fields: ['instr_id'],
      currentEpisode: (values) => ({ instr_id: values['instr_id'], scan: 'scan-9', instruction: 'turn' }),
    });
    const { chosen } = await chooseEpisode(await choice(panel, { episode: byId('123_0') }));
    expect(chosen).toMatchObject({ episodeId: '123_0', sceneId: 'scan-9' });
  });

  it('refuses an environment that stands at another episode than the one asked for', async () => {
    const panel = createFakePanel({ fields: ['episode_id'], currentEpisode: () => ({ episodeId: 'other' }) });
    await expect(chooseEpisode(await choice(panel, { episode: byId('mine') }))).rejects.toMatchObject({
      code: 'episode_unknown',
    });
  });

  it('refuses ids where the panel cannot choose by id, and panels that cannot start an episode', async () => {
    await expect(
      chooseEpisode(await choice(createFakePanel(), { episode: byId('x') })),
    ).rejects.toMatchObject({ code: 'unsupported' });
    await expect(chooseEpisode(await choice(createFakePanel({ actions: [] })))).rejects.toMatchObject({
      code: 'unsupported',
    });
  });

  it('passes on the step budget of the episode', async () => {
    const { chosen } = await chooseEpisode(await choice(createFakePanel({ stepBudget: 77 })));
    expect(chosen.stepBudget).toBe(77);
  });

  it('reports what the panel calls an error', async () => {
    const panel = createFakePanel({ state: { error: 'data folder is missing' } });
    await expect(chooseEpisode(await choice(panel))).rejects.toMatchObject({
      code: 'remote_error',
      message: expect.stringContaining('data folder is missing'),
    });
    const absent = createFakePanel({ state: { available: false, message: 'no GPU' } });
    await expect(chooseEpisode(await choice(absent))).rejects.toMatchObject({
      message: expect.stringContaining('no GPU'),
    });
  });
});

describe('selectors', () => {
  it('refuses names the panel does not have, with those it has', async () => {
    const panel = createFakePanel();
    await expect(pushSelectors(await choice(panel, { selectors: { task: 'x' } }))).rejects.toMatchObject({
      code: 'not_found',
      message: 'The environment has no selector "task". It has: split, episode_index.',
    });
  });

  it('refuses values that are not among the options', async () => {
    const panel = createFakePanel();
    await expect(
      refuseUnknownValues(await choice(panel, { selectors: { split: 'test' } })),
    ).rejects.toMatchObject({
      code: 'not_found',
      message: '"test" is not a split of the environment. Choose one of: train, val_seen, val_unseen.',
    });
    await refuseUnknownValues(await choice(panel, { selectors: { split: 'train' } }));
  });

  it('tell an environment without data where its data is, and are refused when it stays unavailable', async () => {
    const panel = createFakePanel({ fields: ['data_dir', 'episode_index'] });
    const absent = { available: false, error: 'set the selector data_dir' };
    let told = false;
    const without: EnvPanelClient = {
      ...panel,
      load: async (limits) => ({ ...(await panel.load(limits)), ...(told ? {} : absent) }),
      changeField: async (field, value, limits) => {
        told = value === '/data';
        return { ...(await panel.changeField(field, value, limits)), ...(told ? {} : absent) };
      },
    };
    const info = await panel.info();
    const push = (selectors: Record<string, string>): Promise<unknown> =>
      pushSelectors({ panel: without, info, selectors });
    await expect(push({})).rejects.toThrow('set the selector data_dir');
    await expect(push({ data_dir: '/elsewhere' })).rejects.toThrow('set the selector data_dir');
    await expect(push({ data_dir: '/data' })).resolves.toMatchObject({ values: { data_dir: '/data' } });
  });

  it('sends numbers as numbers', async () => {
    const panel = createFakePanel({ fields: ['seed', 'episode_index'] });
    const info: PanelInfo = await panel.info();
    const state = await pushSelectors({ panel, info, selectors: { seed: '12' } });
    expect(state.values['seed']).toBe(12);
  });

  it('an identity holds the cascade before the episode, and the seed only where it was chosen', async () => {
    const panel = createFakePanel({ fields: ['split', 'seed', 'episode_index', 'camera'] });
    const info = await panel.info();
    const state = await pushSelectors({
      panel,
      info,
      selectors: { split: 'val_seen', seed: '5', camera: 'wide' },
    });
    expect(selectionOf(info, state, {})).toEqual({ split: 'val_seen' });
    expect(selectionOf(info, state, { seed: '5' })).toEqual({ split: 'val_seen', seed: 5 });
  });
});
