// The store of the window as zustand slices: line to the engine, workspace, runs, interface. A factory, so tests and
// the preview make their own.
import { createStore, type StateCreator, type StoreApi } from 'zustand/vanilla';
import type { RequestOutput } from '#contract/api.ts';
import type { GraphListItem, GuardView } from '#contract/requests.ts';
import type { EvalConfigInput } from '#contract/eval-config.ts';
import type { NodesetSummary } from '#contract/nodeset.ts';
import type { RunCounts, RunListItem } from '#contract/run.ts';
import type { Settings } from '#contract/settings.ts';
import type { ConnectionState } from '../api/connection.ts';
import type { RequestError } from '../api/request-error.ts';

export type AppInfo = RequestOutput<'app.info'>;
export type ThemeChoice = Settings['appearance']['theme'];

export interface Notice {
  readonly id: number;
  readonly level: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly runId: string | null;
}

export interface ConnectionSlice {
  readonly connection: ConnectionState;
  readonly setConnection: (connection: ConnectionState) => void;
}

export interface WorkspaceSlice {
  readonly info: AppInfo | null;
  readonly guard: GuardView;
  readonly graphs: readonly GraphListItem[] | null;
  readonly graphsError: RequestError | null;
  /** Nodesets that changed since the window opened, by name. */
  readonly nodesets: Readonly<Record<string, NodesetSummary>>;
  readonly settings: Settings | null;
  readonly settingsPath: string | null;
  readonly setWorkspace: (
    change: Partial<
      Pick<WorkspaceSlice, 'info' | 'guard' | 'graphs' | 'graphsError' | 'settings' | 'settingsPath'>
    >,
  ) => void;
  readonly setNodeset: (nodeset: NodesetSummary) => void;
}

export interface RunsSlice {
  readonly queue: readonly string[];
  /** The last line known of each run that changed while the window is open. */
  readonly items: Readonly<Record<string, RunListItem>>;
  /** Counts of the run that is live: fresher than its line. */
  readonly progress: { readonly runId: string; readonly counts: RunCounts } | null;
  /** Increases when lists of runs must be read anew: a run began or went, or events were missed. */
  readonly listVersion: number;
  /** A configuration to take over on Evaluate: duplicate as new. */
  readonly draft: EvalConfigInput | null;
  readonly setQueue: (queue: readonly string[]) => void;
  readonly setItem: (item: RunListItem) => void;
  readonly setProgress: (runId: string, counts: RunCounts) => void;
  readonly forgetRun: (runId: string) => void;
  readonly invalidateLists: () => void;
  readonly setDraft: (draft: EvalConfigInput | null) => void;
}

export interface InterfaceSlice {
  readonly theme: ThemeChoice;
  readonly systemIsDark: boolean;
  readonly overlay: 'none' | 'palette' | 'keys';
  readonly notices: readonly Notice[];
  readonly setTheme: (theme: ThemeChoice) => void;
  readonly setSystemIsDark: (isDark: boolean) => void;
  readonly setOverlay: (overlay: InterfaceSlice['overlay']) => void;
  readonly addNotice: (notice: Omit<Notice, 'id'>) => void;
  readonly dismissNotice: (id: number) => void;
  /** The run goes on, so what was said about its standing still is over. */
  readonly dismissNoticesOf: (runId: string) => void;
}

export type StudioState = ConnectionSlice & WorkspaceSlice & RunsSlice & InterfaceSlice;
export type StudioStore = StoreApi<StudioState>;
type Slice<T> = StateCreator<StudioState, [], [], T>;

const keptItems = 200;
const keptNotices = 5;

const connectionSlice: Slice<ConnectionSlice> = (set) => ({
  connection: { kind: 'connecting' },
  setConnection: (connection) => set({ connection }),
});

const workspaceSlice: Slice<WorkspaceSlice> = (set) => ({
  info: null,
  guard: { holder: null },
  graphs: null,
  graphsError: null,
  nodesets: {},
  settings: null,
  settingsPath: null,
  setWorkspace: (change) => set(change),
  setNodeset: (nodeset) => set((state) => ({ nodesets: { ...state.nodesets, [nodeset.name]: nodeset } })),
});

const runsSlice: Slice<RunsSlice> = (set) => ({
  queue: [],
  items: {},
  progress: null,
  listVersion: 0,
  draft: null,
  setQueue: (queue) => set({ queue }),
  setItem: (item) =>
    set((state) => {
      const isNew = state.items[item.runId] === undefined;
      const known = Object.entries({ ...state.items, [item.runId]: item }).slice(-keptItems);
      return { items: Object.fromEntries(known), listVersion: state.listVersion + Number(isNew) };
    }),
  setProgress: (runId, counts) => set({ progress: { runId, counts } }),
  forgetRun: (runId) =>
    set((state) => {
      const { [runId]: _gone, ...items } = state.items;
      return { items, listVersion: state.listVersion + 1 };
    }),
  invalidateLists: () => set((state) => ({ listVersion: state.listVersion + 1 })),
  setDraft: (draft) => set({ draft }),
});

const interfaceSlice =
  (theme: ThemeChoice, systemIsDark: boolean): Slice<InterfaceSlice> =>
  (set) => ({
    theme,
    systemIsDark,
    overlay: 'none',
    notices: [],
    setTheme: (choice) => set({ theme: choice }),
    setSystemIsDark: (isDark) => set({ systemIsDark: isDark }),
    setOverlay: (overlay) => set({ overlay }),
    addNotice: (notice) =>
      set((state) => {
        const rest = state.notices.filter((other) => other.message !== notice.message);
        const id = (state.notices.at(-1)?.id ?? 0) + 1;
        return { notices: [...rest, { ...notice, id }].slice(-keptNotices) };
      }),
    dismissNotice: (id) => set((state) => ({ notices: state.notices.filter((notice) => notice.id !== id) })),
    dismissNoticesOf: (runId) =>
      set((state) => ({ notices: state.notices.filter((notice) => notice.runId !== runId) })),
  });

export function createStudioStore(theme: ThemeChoice, systemIsDark: boolean): StudioStore {
  return createStore<StudioState>((...args) => ({
    ...connectionSlice(...args),
    ...workspaceSlice(...args),
    ...runsSlice(...args),
    ...interfaceSlice(theme, systemIsDark)(...args),
  }));
}

export const isDarkTheme = (state: Pick<StudioState, 'theme' | 'systemIsDark'>): boolean =>
  state.theme === 'dark' || (state.theme === 'system' && state.systemIsDark);

/** The freshest counts known of a run. */
export function countsOf(
  state: Pick<StudioState, 'items' | 'progress'>,
  runId: string,
): RunCounts | undefined {
  return state.progress?.runId === runId ? state.progress.counts : state.items[runId]?.counts;
}
