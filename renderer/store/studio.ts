// The renderer's composition: client, store, navigation, open runs and commands, and the routing of events to them.
import type { EventMessage } from '#contract/api.ts';
import type { Client } from '../api/client.ts';
import { toRequestError } from '../api/request-error.ts';
import { CommandRegistry } from './command-registry.ts';
import type { Navigation } from './navigation.ts';
import type { RunSession } from './run-session.ts';
import { SessionCache } from './session-cache.ts';
import type { StudioStore } from './studio-store.ts';

export interface Studio {
  readonly client: Client;
  readonly store: StudioStore;
  readonly navigation: Navigation;
  readonly commands: CommandRegistry;
  /** The open run; the two used last are kept so that going back is instant. */
  session(runId: string): RunSession;
  refreshGraphs(): Promise<void>;
  /** Begins to listen; returns the end of it. */
  start(): () => void;
}

export interface StudioOptions {
  readonly client: Client;
  readonly store: StudioStore;
  readonly navigation: Navigation;
  /** Called when a run ends, for a notice outside the window. */
  readonly onFinished?: (message: Extract<EventMessage, { name: 'run.finished' }>) => void;
}

export function createStudio({ client, store, navigation, onFinished }: StudioOptions): Studio {
  const sessions = new SessionCache(client);
  const refreshGraphs = (): Promise<void> => readGraphs(client, store);
  const refreshAll = (): void => {
    readWorkspace(client, store);
    void refreshGraphs();
    sessions.refreshAll();
  };
  const route = (message: EventMessage): void => {
    // The page of a run says about it what a notice would.
    const isSeen =
      message.name === 'notice' &&
      message.payload.runId !== null &&
      message.payload.runId === navigation.get().run;
    if (!isSeen) routeToStore(message, store);
    if (message.name === 'graphs.changed') void refreshGraphs();
    if (message.name === 'run.finished') onFinished?.(message);
    if ('runId' in message.payload && typeof message.payload.runId === 'string')
      sessions.peek(message.payload.runId)?.apply(message);
  };
  return {
    client,
    store,
    navigation,
    commands: new CommandRegistry(),
    refreshGraphs,
    session: (runId) => sessions.open(runId),
    start() {
      let hasLoaded = false;
      const endEvents = client.transport.subscribe(route, refreshAll);
      // The first snapshot is asked for once events flow (or cannot), so that nothing falls between the two.
      const endConnection = client.transport.onConnection((state) => {
        store.getState().setConnection(state);
        if (hasLoaded || state.kind === 'connecting') return;
        hasLoaded = true;
        refreshAll();
      });
      return () => {
        endEvents();
        endConnection();
      };
    },
  };
}

async function readGraphs(client: Client, store: StudioStore): Promise<void> {
  try {
    const { graphs } = await client.request('graphs.list', {});
    store.getState().setWorkspace({ graphs, graphsError: null });
  } catch (thrown) {
    store.getState().setWorkspace({ graphsError: toRequestError(thrown) });
  }
}

function readWorkspace(client: Client, store: StudioStore): void {
  const { setWorkspace, setQueue, setTheme, invalidateLists } = store.getState();
  // A failure is shown by the state of the line, or by the page that needs the answer.
  const take = <T>(request: Promise<T>, use: (value: T) => void): void =>
    void request.then(use, () => undefined);
  take(client.request('app.info', {}), (info) => setWorkspace({ info }));
  take(client.request('guard.get', {}), (guard) => setWorkspace({ guard }));
  take(client.request('runs.queue', {}), ({ runIds }) => setQueue(runIds));
  take(client.request('settings.get', {}), ({ settings, path }) => {
    setWorkspace({ settings, settingsPath: path });
    setTheme(settings.appearance.theme);
  });
  invalidateLists();
}

function routeToStore(message: EventMessage, store: StudioStore): void {
  const state = store.getState();
  switch (message.name) {
    case 'guard.changed':
      state.setWorkspace({ guard: message.payload });
      break;
    case 'queue.changed':
      state.setQueue(message.payload.runIds);
      break;
    case 'run.changed':
      state.setItem(message.payload.item);
      if (message.payload.item.status === 'running') state.dismissNoticesOf(message.payload.runId);
      break;
    case 'run.finished':
      state.setItem(message.payload.item);
      break;
    case 'run.live':
      state.setProgress(message.payload.runId, message.payload.live.summary.counts);
      break;
    case 'run.deleted':
      state.forgetRun(message.payload.runId);
      break;
    case 'nodeset.changed':
      state.setNodeset(message.payload.nodeset);
      break;
    case 'notice':
      state.addNotice(message.payload);
      break;
    default:
      break; // Open runs and pages take the rest.
  }
}
