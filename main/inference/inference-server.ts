// The batched calls of one run: a lane per key, and nothing kept about callers. Disposing it settles all that is open.
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import { stableHash } from '../base/stable-hash.ts';
import { batchingConfig, type BatchingConfig } from '../contract/eval-config.ts';
import type { BatchView } from '../contract/run.ts';
import type { NodeType, PortValues } from '../graph/ports.ts';
import type { BatchBackend, BatchingPort } from '../nodeset/ports.ts';
import { BatchQueue, defaultBatchLimits, type BatchLimits } from './batch-queue.ts';
import { BatchedClient } from './batched-client.ts';
import type { FlushPolicy } from './flush-rule.ts';

export interface InferenceServerOptions {
  readonly clock: Clock;
  /** The run's; a node may set its own in `config.batching`. */
  readonly batching: BatchingConfig;
  readonly limits?: Partial<BatchLimits>;
  /** Default: setImmediate. */
  readonly defer?: (run: () => void) => void;
}

interface Lane {
  readonly nodeId: string;
  readonly hash: string;
  readonly queue: BatchQueue;
  readonly ready: (signal: AbortSignal) => Promise<void>;
}

const defaultMaxBatch = 256;

const { flushPolicy, flushTimeoutMs, maxBatch } = batchingConfig.shape;
/** What a node's `config.batching` may say; the rest is the run's. */
const nodeBatching = z.strictObject({
  flushPolicy: flushPolicy.unwrap().optional(),
  flushTimeoutMs: flushTimeoutMs.unwrap().optional(),
  maxBatch,
});

export class BatchedInferenceServer implements BatchingPort, AsyncDisposable {
  readonly #options: InferenceServerOptions;
  readonly #lanes = new Map<string, Lane>();
  #isClosed = false;

  constructor(options: InferenceServerOptions) {
    this.#options = options;
  }

  wrap(nodeType: NodeType, backend: BatchBackend): NodeType {
    const { manifest } = nodeType;
    return {
      manifest,
      bind: (nodeId, config) => {
        const lane = this.#laneFor({ nodeId, nodeType: manifest.nodeType, config, backend });
        return new BatchedClient(lane.queue, backend.callerSide?.(nodeId, config));
      },
    };
  }

  /** Resolves when every model of the graph is loaded and fits; rejects with the first that is not. */
  async ready(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.ready(signal)));
  }

  views(): readonly BatchView[] {
    return [...this.#lanes.values()].map(({ nodeId, hash, queue }) => ({
      nodePath: nodeId,
      key: hash.slice(0, 12),
      ...queue.view(),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const { queue } of this.#lanes.values())
      queue.close(new StudioError('aborted', 'the run is over and its models are given back'));
  }

  /** Key: node id and config; the type too, as children of a fire list share their parent's id. */
  #laneFor(about: Binding): Lane {
    const { nodeId, nodeType, config } = about;
    const hash = stableHash(config);
    const key = `${nodeId}\n${nodeType}\n${hash}`;
    const known = this.#lanes.get(key);
    if (known) return known;
    if (this.#isClosed) throw new StudioError('aborted', 'the run is over');
    const lane = this.#open(about, hash);
    this.#lanes.set(key, lane);
    return lane;
  }

  #open({ nodeId, nodeType, config, backend }: Binding, hash: string): Lane {
    const { clock, limits, defer = setImmediate } = this.#options;
    const queue = new BatchQueue({
      name: `node '${nodeId}' (${nodeType})`,
      backend: {
        call: (samples, signal) => backend.call(samples, config, signal),
        reset: () => backend.reset(config),
      },
      policy: this.#policyFor(nodeId, config),
      limits: { ...defaultBatchLimits, ...limits },
      clock,
      defer,
    });
    return { nodeId, hash, queue, ready: async (signal) => await backend.ready?.(config, signal) };
  }

  #policyFor(nodeId: string, config: PortValues): FlushPolicy {
    const { batching } = this.#options;
    const own = nodeBatching.safeParse(config['batching'] ?? {});
    if (!own.success) {
      const [issue] = own.error.issues;
      throw new StudioError(
        'graph_invalid',
        `node '${nodeId}', config.batching.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not understood'}`,
      );
    }
    return {
      flushPolicy: own.data.flushPolicy ?? batching.flushPolicy,
      flushTimeoutMs: own.data.flushTimeoutMs ?? batching.flushTimeoutMs,
      maxBatch: own.data.maxBatch ?? batching.maxBatch ?? defaultMaxBatch,
    };
  }
}

interface Binding {
  readonly nodeId: string;
  readonly nodeType: string;
  readonly config: PortValues;
  readonly backend: BatchBackend;
}
