// The host protocol's methods over the routes of AgentCanvas's servers. What the routes do not carry (signals, logs,
// containers of the graph, the end of an execution) is left out; what they carry differently is translated here.
import { throwIfAborted } from '../../../base/abort.ts';
import { StudioError, toStudioError } from '../../../base/errors.ts';
import type { HostLink, LinkCall } from '../../host-link.ts';
import { textOf } from './foreign-manifest.ts';
import type { ServerClient, ServerRequestLimits } from './server-client.ts';

export interface AttachedLinkOptions {
  readonly instance: string;
  readonly client: ServerClient;
  /** The server's own name for a node type here: they differ when it was attached under another name. */
  readonly serverType: (nodeType: string) => string;
}

type Members = Readonly<Record<string, unknown>>;

export class AttachedLink implements HostLink {
  readonly instance: string;
  readonly generation = 0;
  readonly #options: AttachedLinkOptions;
  /** Execution to node to config. */
  readonly #configs = new Map<unknown, Map<unknown, unknown>>();

  constructor(options: AttachedLinkOptions) {
    this.instance = options.instance;
    this.#options = options;
  }

  async call(method: string, params: unknown, options: LinkCall): Promise<unknown> {
    try {
      return await this.#send(method, isRecord(params) ? params : {}, options);
    } catch (thrown) {
      const { phase, context } = options;
      const scope = context ? { phase, nodePath: context.nodeId, step: context.step } : { phase };
      throw toStudioError(thrown, 'remote_error').within(scope);
    }
  }

  async #send(method: string, params: Members, limits: LinkCall): Promise<unknown> {
    const { client } = this.#options;
    const name = encodeURIComponent(textOf(params['name']));
    switch (method) {
      case 'node.forward':
        return await this.#forward(params, limits);
      case 'node.batch':
        return await this.#batch(params, limits);
      case 'panel.info':
        return panelInfoOf(await this.#present('env-panel/info', limits));
      case 'panel.load':
        return stateOf(await this.#present('env-panel/state', limits));
      case 'panel.field':
        return stateOf(await client.post(`env-panel/field/${name}`, { value: params['value'] }, limits));
      case 'panel.action':
        return await this.#act(name, params['values'], limits);
      case 'panel.options':
        return { options: await this.#present(`env-panel/options/${name}`, limits) };
      case 'eval_metadata':
        return await this.#metadata(limits);
      case 'execution.end':
        this.#configs.delete(params['exec']);
        return {};
      default:
        throw new StudioError('unsupported', `a server attached by its URL has no "${method}"`);
    }
  }

  async #forward(params: Members, limits: LinkCall): Promise<unknown> {
    const { client, serverType } = this.#options;
    const type = serverType(textOf(params['type']));
    const { granted } = limits.context?.containers ?? { granted: [] };
    if (granted.length > 0)
      throw new StudioError(
        'unsupported',
        `${type} runs on a server attached by its URL, which cannot reach the graph's containers (${granted.join(', ')}); take the grant away, or load the nodeset from its file`,
      );
    const body = {
      inputs: params['inputs'],
      config: this.#configFor(params),
      _exec: {
        execution_id: params['exec'],
        node_id: params['node'],
        step: params['step'],
        seed: params['seed'],
      },
    };
    const answer = await client.postPacked(`call/${encodeURIComponent(type)}`, body, limits);
    if (!isRecord(answer)) return answer;
    return isRecord(answer['__firelist__']) ? fireListOf(answer['__firelist__']) : answer;
  }

  /** A proxy sends a node's config once per execution; these servers keep none, so it goes with every call. */
  #configFor(params: Members): unknown {
    const configs = this.#configs.get(params['exec']) ?? new Map<unknown, unknown>();
    this.#configs.set(params['exec'], configs);
    if ('config' in params) configs.set(params['node'], params['config']);
    return configs.get(params['node']) ?? {};
  }

  /** No route takes a batch: one call per sample, at once. The server may gather them itself. */
  async #batch(params: Members, limits: LinkCall): Promise<unknown> {
    const { client, serverType } = this.#options;
    const route = `call/${encodeURIComponent(serverType(textOf(params['type'])))}`;
    const samples = Array.isArray(params['samples']) ? params['samples'] : [];
    const outputs = await Promise.all(
      samples.map(async (inputs: unknown) => {
        const answer = await client.postPacked(route, { inputs, config: params['config'] ?? {} }, limits);
        return isRecord(answer) ? answer['outputs'] : undefined;
      }),
    );
    return { outputs };
  }

  async #act(name: string, values: unknown, limits: LinkCall): Promise<unknown> {
    const { client } = this.#options;
    const outcome = await client.post(`env-panel/action/${name}`, { params: values ?? {} }, limits);
    const state = stateOf(await this.#present('env-panel/state', limits));
    if (!isRecord(outcome)) return state;
    const refused = outcome['ok'] === false ? (outcome['message'] ?? 'the action was refused') : undefined;
    const error = outcome['error'] ?? refused;
    return error === undefined || error === null
      ? state
      : { ...state, error: textOf(error, 'the action was refused') };
  }

  /** Said by the server, else what its panel shows: splits without counts. */
  async #metadata(limits: LinkCall): Promise<unknown> {
    const { client } = this.#options;
    const stated = await client.get('eval-metadata', limits);
    if (isRecord(stated)) return stated;
    const manifest = await client.get('manifest', limits);
    if (isRecord(manifest) && isRecord(manifest['eval_metadata'])) return manifest['eval_metadata'];
    throwIfAborted(limits.signal);
    const info = panelInfoOf(await client.get('env-panel/info', limits));
    const split = info.fields.find((field) => isRecord(field) && field['name'] === 'split');
    if (info.fields.length === 0) return null;
    const options = split ? await client.get('env-panel/options/split', limits) : [];
    return { env_name: this.instance, splits: Array.isArray(options) ? options.map(optionValue) : [] };
  }

  async #present(route: string, limits: ServerRequestLimits): Promise<unknown> {
    const answer = await this.#options.client.get(route, limits);
    if (answer !== undefined) return answer;
    throw new StudioError('unsupported', `${this.#options.client.url} has no route ${route}`);
  }
}

function panelInfoOf(answer: unknown): {
  readonly fields: readonly unknown[];
  readonly actions: readonly unknown[];
} {
  const { fields, actions } = isRecord(answer) ? answer : {};
  const all = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list.map(withKnownWords) : []);
  return { fields: all(fields), actions: all(actions) };
}

const fieldKinds = ['select', 'number', 'text', 'slider'];

/** AgentCanvas writes absent members as null. */
function withKnownWords(entry: unknown): unknown {
  if (!isRecord(entry)) return entry;
  const present = Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== null && value !== undefined),
  );
  const kind = present['kind'] ?? present['field_type'];
  return 'side_effect' in present || kind === undefined
    ? present
    : { ...present, kind: fieldKinds.includes(textOf(kind)) ? kind : 'text' };
}

const stateMembers = [
  'available',
  'message',
  'error',
  'current_episode',
  'episode_count',
  'step_budget',
  'values',
];

/** AgentCanvas's panels give the fields' values at the top. */
function stateOf(answer: unknown): Members {
  if (!isRecord(answer))
    throw new StudioError('remote_error', 'the server answered a panel state that is no object');
  const flat = Object.entries(answer).filter(([name]) => !stateMembers.includes(name));
  const values = isRecord(answer['values']) ? answer['values'] : Object.fromEntries(flat);
  const known = Object.entries(answer).filter(([name]) => stateMembers.includes(name));
  return { ...Object.fromEntries(known), values };
}

/** The app's own form, or AgentCanvas's `specs` with an `aggregator` of the same recipes. */
function fireListOf(list: Members): Members {
  if (Array.isArray(list['fire_list'])) return list;
  const specs = Array.isArray(list['specs']) ? list['specs'].filter(isRecord) : [];
  const aggregator = isRecord(list['aggregator']) ? list['aggregator'] : {};
  const isPlain = !isRecord(list['spawner_outputs']) || Object.keys(list['spawner_outputs']).length === 0;
  if (!isPlain || specs.some((spec) => Array.isArray(spec['capture_outputs'])))
    throw new StudioError(
      'unsupported',
      'a fire list with outputs of its own, or with chosen outputs, is not served by an attached server; load the nodeset from its file',
    );
  const fireList = specs.map((spec) => ({ ...spec, capture_outputs: true }));
  return { fire_list: fireList, recipe: { ...aggregator, name: aggregator['kind'] ?? 'passthrough_last' } };
}

function optionValue(option: unknown): string {
  return textOf(isRecord(option) ? option['value'] : option);
}

function isRecord(value: unknown): value is Members {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
