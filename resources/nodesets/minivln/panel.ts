// The control plane: which episode, and reset. Choosing by split and index, or by id; both views always agree.
import type { EnvPanelSpec, PanelStateSpec } from 'agentcanvas';
import { stepBudget } from './episode.ts';
import type { Session } from './session.ts';
import { episodeIdOf, parseEpisodeId, requireIndex, requireSplit, splitNames, splits } from './splits.ts';

export function createPanel(session: Session): EnvPanelSpec {
  const state = (): PanelStateSpec => {
    const { split, index } = session.address;
    const { episode } = session.peek();
    return {
      available: true,
      values: { split, episode_index: index, episode_id: episodeIdOf(session.address) },
      currentEpisode: {
        episodeId: episode.episodeId,
        sceneId: episode.sceneId,
        instruction: episode.instruction,
      },
      episodeCount: splits[split].episodes,
      stepBudget,
    };
  };
  return {
    fields: [
      { name: 'split', kind: 'select', label: 'Split' },
      { name: 'episode_index', kind: 'number', label: 'Episode' },
      { name: 'episode_id', kind: 'text', label: 'Episode id' },
    ],
    actions: [
      { name: 'play', label: 'Play', sideEffect: 'run_start' },
      { name: 'pause', label: 'Pause', sideEffect: 'run_pause' },
      { name: 'step', label: 'Step', sideEffect: 'run_step' },
      { name: 'stop', label: 'Stop', sideEffect: 'run_stop' },
      { name: 'reset', label: 'Reset', sideEffect: 'signal', signal: 'episode_reset' },
      { name: 'next_episode', label: 'Next episode', sideEffect: 'none' },
    ],
    onLoad: state,
    onFieldChange(field, value) {
      choose(session, field, value);
      return state();
    },
    onAction(name) {
      perform(session, name);
      return state();
    },
    getOptions: (field) => (field === 'split' ? splitNames : []),
  };
}

function choose(session: Session, field: string, value: unknown): void {
  const { split } = session.address;
  switch (field) {
    case 'split': {
      const chosen = requireSplit(value);
      if (chosen !== split) session.select({ split: chosen, index: 0 });
      return;
    }
    case 'episode_index':
      return session.select({ split, index: requireIndex(split, value) });
    case 'episode_id':
      return session.select(parseEpisodeId(value));
    default:
      throw new Error(`minivln has no field "${field}"; its fields are split, episode_index and episode_id`);
  }
}

function perform(session: Session, name: string): void {
  switch (name) {
    case 'play':
    case 'reset':
      return session.reset();
    case 'next_episode': {
      const { split, index } = session.address;
      return session.select({ split, index: (index + 1) % splits[split].episodes });
    }
    case 'pause':
    case 'step':
    case 'stop':
      return;
    default:
      throw new Error(`minivln has no action "${name}"; use play, reset or next_episode`);
  }
}
