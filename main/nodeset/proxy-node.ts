// A node type whose forward runs in a host. Hot path: config and grants go with the first call of an execution (and of
// a process) and never again; a host that gives handles is then told no more than the step and the inputs.
import { StudioError } from '../base/errors.ts';
import type { NodeManifest } from '../contract/nodeset.ts';
import { FireList, StopExecution } from '../graph/ports.ts';
import type {
  ChildFiring,
  FireRecipe,
  FiringContext,
  ForwardResult,
  NodeHandler,
  NodeType,
  PortValues,
} from '../graph/ports.ts';
import type { CallDeadlines } from './deadlines.ts';
import type { HostLink, LinkCall } from './host-link.ts';

export interface ProxyOptions {
  readonly manifest: NodeManifest;
  readonly link: HostLink;
  readonly deadlines: CallDeadlines;
  /** Nodes of an environment step; others are called. */
  readonly isEnvironment: boolean;
}

export function createProxyNodeType(options: ProxyOptions): NodeType {
  // Of the process, not of a handler: the second episode's first firing is no first call.
  const warmth: Warmth = { generation: -1 };
  return {
    manifest: options.manifest,
    bind: (nodeId, config) => new ProxyHandler({ ...options, nodeId, config, warmth }),
  };
}

/** The process generation that has answered a firing of this node type. */
interface Warmth {
  generation: number;
}

interface HandlerOptions extends ProxyOptions {
  readonly nodeId: string;
  readonly config: PortValues;
  readonly warmth: Warmth;
}

class ProxyHandler implements NodeHandler {
  readonly #options: HandlerOptions;
  #toldExecution: string | undefined;
  #toldGeneration = -1;
  #handle: number | undefined;

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  forward(inputs: PortValues, context: FiringContext): Promise<ForwardResult> {
    const { link, manifest, nodeId, config } = this.#options;
    const exec = context.executionId;
    const isKnown = exec === this.#toldExecution && link.generation === this.#toldGeneration;
    if (isKnown && this.#handle !== undefined && link.fireAgain) {
      const { step, seed } = context;
      const firing = { handle: this.#handle, step, seed, inputs };
      return this.#answered(link.fireAgain(firing, this.#callOptions(context)), context);
    }
    const call: Record<string, unknown> = {
      type: manifest.nodeType,
      node: nodeId,
      exec,
      step: context.step,
      seed: context.seed,
      inputs,
    };
    if (!isKnown) {
      call['config'] = config;
      call['grants'] = context.containers.granted;
      this.#handle = link.takeHandle?.();
      if (this.#handle !== undefined) call['handle'] = this.#handle;
      this.#toldExecution = exec;
      this.#toldGeneration = link.generation;
    }
    return this.#answered(link.call('node.forward', call, this.#callOptions(context)), context);
  }

  end(): void {
    this.#toldExecution = undefined;
  }

  #answered(calling: Promise<unknown>, context: FiringContext): Promise<ForwardResult> {
    const { link, warmth } = this.#options;
    return calling.then(
      (answer) => {
        warmth.generation = link.generation;
        return this.#resultOf(answer, context);
      },
      (thrown: unknown) => {
        // Perhaps it never came to know the node.
        this.#toldExecution = undefined;
        throw isStop(thrown) ? new StopExecution(thrown.message) : thrown;
      },
    );
  }

  #callOptions(context: FiringContext): LinkCall {
    const { link, warmth, deadlines, isEnvironment } = this.#options;
    const laterMs = isEnvironment ? deadlines.stepMs : deadlines.callMs;
    return {
      timeoutMs: warmth.generation === link.generation ? laterMs : deadlines.firstCallMs,
      phase: isEnvironment ? 'step' : 'call',
      signal: context.signal,
      context,
    };
  }

  #resultOf(answer: unknown, context: FiringContext): ForwardResult {
    if (!isRecord(answer)) throw this.#garbage('no object');
    if (answer['log'] !== undefined) this.#relayLog(answer['log'], context);
    if (Array.isArray(answer['signals']))
      for (const name of answer['signals']) context.emitSignal(String(name));
    const { outputs } = answer;
    if (isRecord(outputs)) return outputs;
    if (Array.isArray(answer['fire_list']))
      return this.#fireListOf(answer['fire_list'], answer['recipe'], context);
    throw this.#garbage('neither `outputs` nor `fire_list`');
  }

  #relayLog(log: unknown, context: FiringContext): void {
    if (!Array.isArray(log)) throw this.#garbage('a log that is no list');
    for (const entry of log) if (Array.isArray(entry)) context.log(String(entry[0]), entry[1]);
  }

  #fireListOf(children: readonly unknown[], recipe: unknown, context: FiringContext): FireList {
    return new FireList(
      children.map((child) => this.#childOf(child)),
      this.#recipeOf(recipe, context),
    );
  }

  #childOf(child: unknown): ChildFiring {
    if (!isRecord(child) || typeof child['node_type'] !== 'string')
      throw this.#garbage('a fire list entry without node_type');
    const { inputs, config, label, capture_outputs: captureOutputs } = child;
    return {
      nodeType: child['node_type'],
      inputs: isRecord(inputs) ? inputs : {},
      config: isRecord(config) ? config : {},
      label: typeof label === 'string' ? label : '',
      captureOutputs: Array.isArray(captureOutputs) ? captureOutputs.map(String) : captureOutputs !== false,
    };
  }

  #recipeOf(recipe: unknown, context: FiringContext): FireRecipe {
    const name = isRecord(recipe) ? recipe['name'] : undefined;
    const { index, names } = isRecord(recipe) ? recipe : {};
    switch (name) {
      case 'passthrough_last':
      case 'merge_all':
        return { recipe: name };
      case 'passthrough_index':
        return { recipe: name, index: typeof index === 'number' ? index : 0 };
      case 'rename':
        return { recipe: name, names: isRecord(names) ? textMembers(names) : {} };
      case 'own':
        return { recipe: 'own', aggregate: (results) => this.#aggregate(results, context) };
      default:
        throw this.#garbage(`the unknown recipe ${JSON.stringify(name)}`);
    }
  }

  async #aggregate(results: readonly PortValues[], context: FiringContext): Promise<PortValues> {
    const { link, manifest, nodeId } = this.#options;
    const params = { type: manifest.nodeType, node: nodeId, exec: context.executionId, results };
    const answer = await link.call('node.aggregate', params, this.#callOptions(context));
    if (!isRecord(answer) || !isRecord(answer['outputs']))
      throw this.#garbage('an aggregate without `outputs`');
    return answer['outputs'];
  }

  #garbage(what: string): StudioError {
    const { link, manifest } = this.#options;
    return new StudioError(
      'remote_error',
      `${link.instance} answered a firing of ${manifest.nodeType} with ${what}; correct its host or nodeset`,
    );
  }
}

/** The host's word for a node's StopExecution; no code of our own, since it is no failure. */
function isStop(thrown: unknown): thrown is StudioError {
  return thrown instanceof StudioError && thrown.details['remoteCode'] === 'stop_execution';
}

function textMembers(names: PortValues): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(names).map(([from, to]) => [from, String(to)]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
