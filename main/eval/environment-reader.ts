// Asks an environment what it offers, outside of a run: starts one replica, reads, ends it. Answers are kept per
// source and selectors, so that a form that asks at every keystroke starts no processes.
import { stableHash } from '../base/stable-hash.ts';
import { toStudioError } from '../base/errors.ts';
import type { StudioError } from '../base/errors.ts';
import type { EvalMetadata, PanelInfo, PanelState } from '../contract/nodeset.ts';
import type { EvalConfig } from '../contract/eval-config.ts';
import type { CallLimits, NodesetRegistry } from '../nodeset/ports.ts';
import { describeEnvironment, type Environment } from './environment.ts';
import { SharedWork } from './shared-work.ts';

export interface EnvironmentReading {
  readonly nodeset: string;
  readonly metadata: EvalMetadata;
  readonly panel: PanelInfo;
  readonly panelState: PanelState;
}

export type ReadOutcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: StudioError };

export class EnvironmentReader {
  readonly #registry: Pick<NodesetRegistry, 'ensureNodesetsForGraph' | 'list'>;
  readonly #readings = new SharedWork<readonly EnvironmentReading[]>();
  readonly #environments = new SharedWork<Environment | null>();

  constructor(registry: Pick<NodesetRegistry, 'ensureNodesetsForGraph' | 'list'>) {
    this.#registry = registry;
  }

  /** What the environments of these nodesets say as they stand, or why they could not be asked. */
  async read(
    nodesets: readonly string[],
    limits: CallLimits = {},
  ): Promise<ReadOutcome<readonly EnvironmentReading[]>> {
    return await outcomeOf(
      this.#readings.ask(
        this.#keyOf(nodesets),
        (signal) => this.#readNow(nodesets, { ...limits, signal }),
        limits.signal,
      ),
    );
  }

  /** True when `read` would answer without starting anything. */
  isKnown(nodesets: readonly string[]): boolean {
    return this.#readings.has(this.#keyOf(nodesets));
  }

  /** The set of episodes the selectors lead to. */
  async describe(
    nodesets: readonly string[],
    choice: {
      readonly envNodeset?: string | undefined;
      readonly selectors: Readonly<Record<string, string>>;
      readonly episodes?: EvalConfig['episodes'];
    },
    limits: CallLimits = {},
  ): Promise<ReadOutcome<Environment | null>> {
    const { envNodeset, selectors, episodes } = choice;
    // Only what the environment is asked for: other changes of a form start nothing.
    const ids = typeof episodes === 'object' && 'ids' in episodes ? episodes.ids : null;
    const key = this.#keyOf(nodesets, [envNodeset ?? null, selectors, ids]);
    const work = async (signal: AbortSignal): Promise<Environment | null> => {
      await using session = await this.#registry.ensureNodesetsForGraph(nodesets, {
        replicaCount: 1,
        ...limits,
        signal,
      });
      return await describeEnvironment(
        session,
        {
          selectors,
          ...(envNodeset !== undefined && { envNodeset }),
          ...(episodes !== undefined && { episodes }),
        },
        { ...limits, signal },
      );
    };
    return await outcomeOf(this.#environments.ask(key, work, limits.signal));
  }

  async #readNow(nodesets: readonly string[], limits: CallLimits): Promise<readonly EnvironmentReading[]> {
    await using session = await this.#registry.ensureNodesetsForGraph(nodesets, {
      replicaCount: 1,
      ...limits,
    });
    const [first] = session.initial;
    if (!first) return [];
    return await Promise.all(
      session.envNodesets.map(async (nodeset) => {
        const panel = first.panel(nodeset);
        const [metadata, info, panelState] = await Promise.all([
          session.evalMetadata(nodeset, limits),
          panel.info(limits),
          panel.load(limits),
        ]);
        return { nodeset, metadata, panel: info, panelState };
      }),
    );
  }

  #keyOf(nodesets: readonly string[], choice: unknown = null): string {
    const hashes = new Map(this.#registry.list().map(({ name, sourceHash }) => [name, sourceHash]));
    return stableHash([nodesets.map((name) => [name, hashes.get(name) ?? null]), choice]);
  }
}

async function outcomeOf<Value>(work: Promise<Value>): Promise<ReadOutcome<Value>> {
  try {
    return { ok: true, value: await work };
  } catch (error) {
    return { ok: false, error: toStudioError(error) };
  }
}
