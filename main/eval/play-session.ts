// The processes behind one Play: a session with a single replica set, and the env panels in it. Kept from one Play to
// the next while the graph needs the same nodesets; disposing it stops every process it started.
import { StudioError } from '../base/errors.ts';
import { stableHash } from '../base/stable-hash.ts';
import type { PlayPanel } from '../contract/play.ts';
import type { PanelInfo, PanelState } from '../contract/nodeset.ts';
import type {
  CallLimits,
  EnvPanelClient,
  GraphSession,
  LoadStage,
  NodesetRegistry,
  ReplicaSet,
} from '../nodeset/ports.ts';
import { chooseEpisode } from './choose-episode.ts';

export type PlayRegistry = Pick<
  NodesetRegistry,
  'ensureNodesetsForGraph' | 'list' | 'lookAtChanges' | 'manifests'
>;

interface OpenPanel {
  readonly client: EnvPanelClient;
  readonly info: PanelInfo;
  state: PanelState;
}

export interface OpenOptions {
  readonly signal: AbortSignal;
  readonly onStage: (stage: LoadStage) => void;
}

export class PlaySession implements AsyncDisposable {
  readonly key: string;
  readonly replicas: ReplicaSet;
  readonly #session: GraphSession;
  readonly #panels: ReadonlyMap<string, OpenPanel>;
  /** Set when a process ended or stopped answering: the session is not used again. */
  isBroken = false;

  private constructor(
    key: string,
    session: GraphSession,
    replicas: ReplicaSet,
    panels: ReadonlyMap<string, OpenPanel>,
  ) {
    this.key = key;
    this.replicas = replicas;
    this.#session = session;
    this.#panels = panels;
    void replicas.death.then(() => (this.isBroken = true));
  }

  /** Equal for graphs that can share a session; changes with the nodesets' sources. */
  static keyOf(registry: PlayRegistry, nodesets: readonly string[]): string {
    const hashes = new Map(registry.list().map(({ name, sourceHash }) => [name, sourceHash]));
    return stableHash(nodesets.map((name) => [name, hashes.get(name) ?? null]));
  }

  /** Throws what `ensureNodesetsForGraph` or a panel throws; then nothing is left running. */
  static async open(
    registry: PlayRegistry,
    nodesets: readonly string[],
    { signal, onStage }: OpenOptions,
  ): Promise<PlaySession> {
    const key = PlaySession.keyOf(registry, nodesets);
    const session = await registry.ensureNodesetsForGraph(nodesets, { replicaCount: 1, signal, onStage });
    try {
      const replicas = session.initial[0];
      if (!replicas) throw new StudioError('internal', 'the session started without its replica set');
      const panels = new Map<string, OpenPanel>();
      for (const nodeset of session.envNodesets) {
        const client = replicas.panel(nodeset);
        panels.set(nodeset, {
          client,
          info: await client.info({ signal }),
          state: await client.load({ signal }),
        });
      }
      return new PlaySession(key, session, replicas, panels);
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
  }

  get panels(): PlayPanel[] {
    return [...this.#panels].map(([nodeset, { info, state }]) => ({ nodeset, info, state }));
  }

  /** Smallest budget an environment names for the episode it stands at. */
  get stepBudget(): number | null {
    const budgets = this.panels.flatMap(({ state }) => (state.stepBudget == null ? [] : [state.stepBudget]));
    return budgets.length > 0 ? Math.min(...budgets) : null;
  }

  async changeField(nodeset: string, field: string, value: unknown, limits: CallLimits): Promise<void> {
    const panel = this.#panel(nodeset);
    panel.state = await panel.client.changeField(field, value, limits);
  }

  /** Gives what the action asks the canvas to do, and the signal it sends into the graph. */
  async act(nodeset: string, name: string, limits: CallLimits): Promise<PanelInfo['actions'][number]> {
    const panel = this.#panel(nodeset);
    const action = panel.info.actions.find((candidate) => candidate.name === name);
    if (!action) throw new StudioError('not_found', `The env panel of ${nodeset} has no action "${name}".`);
    panel.state = await panel.client.act(name, panel.state.values, limits);
    return action;
  }

  options(nodeset: string, field: string, limits: CallLimits): Promise<readonly unknown[]> {
    return this.#panel(nodeset).client.options(field, limits);
  }

  /** Puts every environment at the start of the episode its panel shows, as an evaluation does before an episode. */
  async reset(limits: CallLimits): Promise<void> {
    for (const panel of this.#panels.values()) {
      const { seed } = panel.state.values;
      const { state } = await chooseEpisode({
        panel: panel.client,
        info: panel.info,
        selectors: typeof seed === 'number' || typeof seed === 'string' ? { seed: String(seed) } : {},
        episode: { episodeIndex: null, episodeId: null },
        environmentSeed: 0,
        known: panel.state,
        limits,
      });
      panel.state = state;
    }
  }

  async refresh(limits: CallLimits): Promise<void> {
    for (const panel of this.#panels.values()) panel.state = await panel.client.load(limits);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isBroken = true;
    await this.#session[Symbol.asyncDispose]();
  }

  #panel(nodeset: string): OpenPanel {
    const panel = this.#panels.get(nodeset);
    if (panel) return panel;
    const known = [...this.#panels.keys()].join(', ') || 'none';
    throw new StudioError('not_found', `There is no env panel of "${nodeset}". There are: ${known}.`);
  }
}
