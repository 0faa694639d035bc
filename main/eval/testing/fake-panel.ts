// An env panel that remembers what was pushed to it, with a cascade: changing `split` resets the index.
import type { PanelInfo, PanelState } from '../../contract/nodeset.ts';
import type { EnvPanelClient } from '../../nodeset/ports.ts';

export interface FakePanel extends EnvPanelClient {
  readonly calls: readonly string[];
}

export interface FakePanelOptions {
  readonly fields?: readonly string[];
  readonly splits?: Readonly<Record<string, number | null>>;
  readonly actions?: readonly string[];
  readonly currentEpisode?: (values: Readonly<Record<string, unknown>>) => PanelState['currentEpisode'];
  readonly stepBudget?: number | null;
  readonly state?: Partial<PanelState>;
}

const defaultSplits: Readonly<Record<string, number | null>> = { train: 1000, val_seen: 100, val_unseen: 50 };

export function createFakePanel(options: FakePanelOptions = {}): FakePanel {
  const { fields = ['split', 'episode_index'], splits = defaultSplits, actions = ['play'] } = options;
  const calls: string[] = [];
  let values: Record<string, unknown> = { split: Object.keys(splits)[0], episode_index: 0 };
  const state = (): PanelState => ({
    available: true,
    values: Object.fromEntries(
      fields.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
    ),
    currentEpisode: options.currentEpisode?.(values) ?? {
      episodeId:
        values['episode_id'] === undefined
          ? `ep${Number(values['episode_index'])}`
          : JSON.stringify(values['episode_id']),
      sceneId: 'scene-1',
      instruction: 'go',
    },
    episodeCount: splits[String(values['split'])] ?? null,
    stepBudget: options.stepBudget ?? null,
    ...options.state,
  });
  const info: PanelInfo = {
    fields: fields.map((name) => ({
      name,
      kind: name === 'split' ? 'select' : name === 'episode_index' || name === 'seed' ? 'number' : 'text',
      label: '',
    })),
    actions: actions.map((name) => ({ name, label: '', sideEffect: 'none' })),
  };
  return {
    calls,
    info: () => Promise.resolve(info),
    load: () => {
      calls.push('load');
      return Promise.resolve(state());
    },
    changeField: (field, value) => {
      calls.push(`${field}=${String(value)}`);
      if (field === 'split') values = { ...values, episode_index: 0 };
      values = { ...values, [field]: value };
      return Promise.resolve(state());
    },
    act: (action) => {
      calls.push(action);
      return Promise.resolve(state());
    },
    options: (field) => Promise.resolve(field === 'split' ? Object.keys(splits) : []),
  };
}
