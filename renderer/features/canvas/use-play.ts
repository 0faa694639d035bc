// The controls of Play: what can be done now, why not, and doing it.
import { useState } from 'react';
import type { PlayView } from '#contract/play.ts';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { useAction, type Action } from '../../ui/use-request.ts';
import { useCanvas, useEditorState, usePlay } from './canvas-context.tsx';
import type { PlayFeed } from './play-feed.ts';
import type { Validation } from './use-validation.ts';

export interface PlaySettings {
  readonly seed: number;
  /** Null: what the environment or the graph says. */
  readonly stepBudget: number | null;
  readonly stepDelayMs: number;
}

export interface PlayControls {
  readonly view: PlayView | null;
  /** The view is about the graph on the canvas. */
  readonly isMine: boolean;
  readonly isLive: boolean;
  /** Why Play cannot start; null when it can. */
  readonly blocked: string | null;
  readonly action: Action;
  readonly settings: PlaySettings;
  readonly set: (change: Partial<PlaySettings>) => void;
  readonly play: () => void;
  readonly step: (unit: 'firing' | 'iteration') => void;
  readonly stop: () => void;
  readonly restore: (step: number) => void;
  readonly prepare: () => void;
  readonly release: () => void;
  /** A newer view, from an answer about a panel. */
  readonly take: (view: PlayView) => void;
}

const live: ReadonlySet<string> = new Set(['preparing', 'running', 'paused', 'stopping']);

export function usePlayControls(feed: PlayFeed, validation: Validation): PlayControls {
  const { client } = useStudio();
  const { editor } = useCanvas();
  const view = usePlay((state) => state.view);
  const saved = useEditorState((state) => state.saved);
  const isEmpty = useEditorState((state) => state.history.root.nodes.length === 0);
  const holder = useStudioState((state) => state.guard.holder);
  const action = useAction();
  const [settings, setSettings] = useState<PlaySettings>({ seed: 0, stepBudget: null, stepDelayMs: 0 });
  const isMine = view?.graphName === saved.name && view.graphRef === saved.ref;
  const isLive = live.has(view?.status ?? 'idle');
  const errors = validation.diagnostics?.filter(({ severity }) => severity === 'error').length ?? 0;
  const blocked = blockedBecause({ holder, isEmpty, errors, isLive, isMine });

  const take = (work: () => Promise<PlayView>): void => action.run(async () => feed.take(await work()));
  const start = (first: 'run' | 'firing' | 'iteration'): void =>
    action.run(() =>
      feed.begin({
        definition: editor.root,
        graph: { name: saved.name, ref: saved.ref },
        ...settings,
        first,
      }),
    );
  return {
    view,
    isMine,
    isLive,
    blocked,
    action,
    settings,
    set: (change) => {
      setSettings((before) => ({ ...before, ...change }));
      const { stepDelayMs } = change;
      if (stepDelayMs !== undefined && isLive) take(() => client.request('play.delay', { stepDelayMs }));
    },
    play: () => {
      if (view?.status === 'running') return take(() => client.request('play.pause', {}));
      if (view?.status === 'paused') return take(() => client.request('play.resume', {}));
      if (blocked === null && !isLive) start('run');
    },
    step: (unit) => {
      if (view?.status === 'paused') return take(() => client.request('play.step', { unit }));
      if (blocked === null && !isLive) start(unit);
    },
    stop: () => {
      if (isLive) take(() => client.request('play.stop', { now: view?.status === 'stopping' }));
    },
    restore: (step) => take(() => client.request('play.restore', { step })),
    prepare: () =>
      take(() =>
        client.request('play.prepare', {
          definition: editor.root,
          graph: { name: saved.name, ref: saved.ref },
        }),
      ),
    release: () => take(() => client.request('play.release', {})),
    take: (newer) => feed.take(newer),
  };
}

interface Circumstances {
  readonly holder: { readonly kind: string; readonly label: string } | null;
  readonly isEmpty: boolean;
  readonly errors: number;
  readonly isLive: boolean;
  readonly isMine: boolean;
}

function blockedBecause({ holder, isEmpty, errors, isLive, isMine }: Circumstances): string | null {
  if (holder?.kind === 'eval') return `${holder.label} is executing. Play waits until it ends.`;
  if (isLive && !isMine) return `${holder?.label ?? 'Another graph'} is playing. Stop it first.`;
  if (isEmpty) return 'Add a node first.';
  if (errors > 0) return errors === 1 ? 'One error blocks Play.' : `${errors} errors block Play.`;
  return null;
}
