// The node type policy_onnx: an ONNX policy whose state travels on its ports. It is the engine's own, like the built-ins,
// because it needs no nodeset; batched like any node that says so.
import { StudioError } from '../../base/errors.ts';
import { nodeManifest, type NodeManifest } from '../../contract/nodeset.ts';
import type { FiringContext, NodeHandler, NodeType, PortValues } from '../../graph/ports.ts';
import type { BatchBackend, CallerSide, EngineNodes } from '../../nodeset/ports.ts';
import { findModel, type ModelFolders } from './model-file.ts';
import { ModelHost, type ModelHostPorts } from './model-host.ts';
import { OnnxPolicy } from './onnx-policy.ts';
import { policyOutputs } from './policy-action.ts';
import { executionProviders, parsePolicyConfig, type PolicyConfig } from './policy-config.ts';
import { policySample, type PolicySample } from './policy-sample.ts';
import type { Tensor } from '../../base/tensor.ts';

const defaultBatchMs = (): number => 120_000;

export const policyNodeType = 'policy_onnx';

const json = (name: string, label: string, description: string): Record<string, unknown> => ({
  kind: 'textarea',
  name,
  label,
  description,
});

export const policyManifest: NodeManifest = nodeManifest.parse({
  nodeType: policyNodeType,
  displayName: 'ONNX policy',
  description:
    'Runs a policy from an ONNX file, batched over all workers. Inputs, outputs and state are mapped in its config; the state travels on hidden_in and hidden_out.',
  category: 'policy',
  icon: 'brain-circuit',
  kind: 'policy',
  inputPorts: [
    { name: 'observation', description: 'What the policy sees; `ports` replaces this list by your own.' },
    { name: 'previous_action', wireType: 'DISCRETE_ACTION', optional: true },
    { name: 'hidden_in', description: 'hidden_out of the step before; zeros without it.', optional: true },
  ],
  outputPorts: [
    { name: 'action', description: 'A number, or the array of a continuous action.' },
    { name: 'hidden_out', description: 'Wire it to hidden_in through the loop.' },
    { name: 'scores', description: 'The output the action was chosen from.' },
    { name: 'extra', description: 'A record of the outputs named in `extra`.' },
  ],
  defaultConfig: { model: '', provider: 'cpu', threads: 0 },
  uiConfig: {
    configFields: [
      {
        kind: 'text',
        name: 'model',
        label: 'Model',
        description: 'library:<file>, a path in the workspace, or an absolute one',
      },
      { kind: 'port_list', name: 'ports', label: 'Inputs' },
      json(
        'inputs',
        'Model inputs',
        'JSON: {"rgb": {"layout": "hwc_to_chw", "scale": 0.0039}, "previous": {"port": "previous_action", "oneHot": 4, "default": -1}}',
      ),
      json('hidden', 'State', 'JSON: {"h_in": "h_out"}'),
      json(
        'action',
        'Action',
        'JSON: {"output": "logits", "choose": "argmax"}; choose is argmax, sample or value',
      ),
      { kind: 'select', name: 'provider', label: 'Execution provider', options: [...executionProviders] },
      {
        kind: 'number',
        name: 'threads',
        label: 'Threads',
        description: '0: half the cores, four at most',
        min: 0,
        max: 256,
        step: 1,
      },
    ],
  },
  batched: true,
  batchDim: 'observation',
});

export interface PolicyNodesOptions {
  readonly models: ModelFolders;
  readonly host: ModelHostPorts;
  readonly cores: number;
  /** The deadline of a batch, as it is now. Default 120 s. */
  readonly batchMs?: () => number;
}

/** The node type with the processes behind it; disposing ends them. */
export class PolicyNodes implements EngineNodes, AsyncDisposable {
  readonly #options: PolicyNodesOptions;
  readonly #hosts = new Map<string, ModelHost>();
  /** By config: lanes and handlers keep theirs as long as they live. */
  readonly #policies = new WeakMap<PortValues, OnnxPolicy>();
  readonly #nodeType: NodeType;
  readonly #backend: BatchBackend;
  #isClosed = false;

  constructor(options: PolicyNodesOptions) {
    this.#options = options;
    this.#nodeType = { manifest: policyManifest, bind: (nodeId, config) => this.#bindAlone(nodeId, config) };
    this.#backend = {
      call: (samples, config, signal) =>
        this.#policyFor('', config).infer(samples as readonly PolicySample[], signal),
      reset: async (config) => await (config && this.#policies.get(config)?.reset()),
      callerSide: (nodeId, config) => this.#callerSide(this.#policyFor(nodeId, config).config),
      ready: (config, signal) => this.#policyFor('', config).ready(signal),
    };
  }

  lookup(nodeType: string): NodeType | undefined {
    return nodeType === policyNodeType ? this.#nodeType : undefined;
  }

  manifestOf(nodeType: string): NodeManifest | undefined {
    return nodeType === policyNodeType ? policyManifest : undefined;
  }

  batchBackend(nodeType: string): BatchBackend | undefined {
    return nodeType === policyNodeType ? this.#backend : undefined;
  }

  /** Processes that run now. */
  get pids(): readonly number[] {
    return [...this.#hosts.values()].flatMap((host) => host.pid ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#hosts.values()].map((host) => host[Symbol.asyncDispose]()));
  }

  /** Without batching: every firing is a call of its own. */
  #bindAlone(nodeId: string, config: PortValues): NodeHandler {
    const policy = this.#policyFor(nodeId, config);
    const side = this.#callerSide(policy.config);
    return {
      async forward(inputs, context) {
        const sample = side.sampleOf(inputs, context) as PolicySample;
        const [answer = {}] = await policy.infer([sample], context.signal);
        return side.outputsOf(answer, context);
      },
    };
  }

  #callerSide(config: PolicyConfig): CallerSide {
    return {
      sampleOf: (inputs) => policySample(config, inputs),
      outputsOf: (answer, context: FiringContext) =>
        policyOutputs(config, answer as Readonly<Record<string, Tensor>>, context),
    };
  }

  #policyFor(nodeId: string, config: PortValues): OnnxPolicy {
    const known = this.#policies.get(config);
    if (known) return known;
    const parsed = parsePolicyConfig(nodeId, config);
    const policy = new OnnxPolicy({
      nodeId,
      config: parsed,
      findHost: () => this.#hostFor(parsed),
      inferMs: this.#options.batchMs ?? defaultBatchMs,
    });
    this.#policies.set(config, policy);
    return policy;
  }

  /** One process, and so one session, per file and way to run it. */
  async #hostFor(config: PolicyConfig): Promise<ModelHost> {
    const { models, host, cores } = this.#options;
    const { path, identity } = await findModel(config.model, models);
    if (this.#isClosed) throw new StudioError('aborted', 'the models are given back');
    const { provider } = config;
    const threads = config.threads || Math.max(1, Math.min(4, Math.floor(cores / 2)));
    const key = `${identity}\n${provider}\n${threads}`;
    const known = this.#hosts.get(key) ?? new ModelHost(host, { file: path, provider, threads });
    this.#hosts.set(key, known);
    return known;
  }
}

/** The first that knows a node type provides it. */
export function engineNodes(...sources: readonly EngineNodes[]): EngineNodes {
  return {
    lookup: (nodeType) => firstOf(sources, (source) => source.lookup(nodeType)),
    manifestOf: (nodeType) => firstOf(sources, (source) => source.manifestOf(nodeType)),
    batchBackend: (nodeType) => firstOf(sources, (source) => source.batchBackend?.(nodeType)),
  };
}

function firstOf<Value>(
  sources: readonly EngineNodes[],
  get: (source: EngineNodes) => Value | undefined,
): Value | undefined {
  for (const source of sources) {
    const value = get(source);
    if (value !== undefined) return value;
  }
  return undefined;
}
