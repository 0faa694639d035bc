// Serves one living nodeset to whoever calls: the methods of docs/host-protocol.md over an instance in this process.
// Hot path: node.forward. What belongs to an execution is kept until execution.end and not a moment longer.
import { StudioError } from '../../base/errors.ts';
import type { NodesetManifest } from '../../contract/nodeset.ts';
import type {
  EnvPanelSpec,
  FireListResult,
  NodeCallContext,
  NodeResult,
  NodesetInstance,
  NodeSpec,
  Values,
} from '../author/agentcanvas.ts';
import { isFireList } from '../fire-list.ts';
import { nodeTypeOf } from '../manifest.ts';
import {
  evalMetadataToWire,
  manifestToWire,
  normaliseEvalMetadata,
  panelInfoToWire,
  panelStateToWire,
} from '../wire-form.ts';
import { AskedContainers, type EngineQuestions } from './asked-containers.ts';

/** The call being served: its abort signal, and the way back to the engine on its behalf. */
export interface ServedCall extends EngineQuestions {
  readonly signal: AbortSignal;
}

export interface ServedNodeset {
  readonly manifest: NodesetManifest;
  readonly instance: NodesetInstance;
}

type Parameters = Readonly<Record<string, unknown>>;
type Aggregate = (results: readonly Values[]) => Values;

export class NodesetServer {
  readonly #manifest: NodesetManifest;
  readonly #instance: NodesetInstance;
  readonly #nodes: ReadonlyMap<string, NodeSpec>;
  /** Execution, then node id. */
  readonly #executions = new Map<string, Map<string, NodeRun>>();

  constructor({ manifest, instance }: ServedNodeset) {
    this.#manifest = manifest;
    this.#instance = instance;
    this.#nodes = new Map(instance.nodes.map((node) => [nodeTypeOf(manifest.name, node.name), node]));
  }

  /** Executions whose state is held; for tests and heartbeats. */
  get executionCount(): number {
    return this.#executions.size;
  }

  /** Answers one call; a value where the author gave a value, a promise where not. */
  serve(method: string, params: unknown, call: ServedCall): unknown {
    const parameters = isRecord(params) ? params : {};
    switch (method) {
      case 'node.forward':
        return this.#forward(parameters, call);
      case 'node.batch':
        return this.#batch(parameters);
      case 'node.aggregate':
        return this.#aggregate(parameters);
      case 'execution.end':
        return this.#endExecution(textOf(parameters, 'exec'));
      case 'manifest':
        return manifestToWire(this.#manifest);
      case 'initialize':
        return after(this.#instance.initialize?.(), () => ({}));
      case 'eval_metadata':
        return this.#evalMetadata();
      case 'shutdown':
        return after(this.#instance.shutdown?.(), () => ({}));
      default:
        return this.#servePanel(method, parameters);
    }
  }

  #servePanel(method: string, params: Parameters): unknown {
    switch (method) {
      case 'panel.info': {
        const { fields, actions } = this.#panel();
        return panelInfoToWire({ fields, actions });
      }
      case 'panel.load':
        return after(this.#panel().onLoad(), panelStateToWire);
      case 'panel.field':
        return after(this.#panel().onFieldChange(textOf(params, 'name'), params['value']), panelStateToWire);
      case 'panel.action':
        return after(
          this.#panel().onAction(textOf(params, 'name'), recordOf(params, 'values')),
          panelStateToWire,
        );
      case 'panel.options':
        return after(this.#panel().getOptions(textOf(params, 'name')), (options) => ({ options }));
      default:
        throw new StudioError('unsupported', `this host has no method "${method}"`);
    }
  }

  #forward(params: Parameters, call: ServedCall): unknown {
    const run = this.#runOf(params);
    run.begin(params, call);
    return after(run.node.forward(recordOf(params, 'inputs'), run, run.config), (result) =>
      run.answer(result),
    );
  }

  #runOf(params: Parameters): NodeRun {
    const execution = textOf(params, 'exec');
    const nodeId = textOf(params, 'node');
    let runs = this.#executions.get(execution);
    if (!runs) this.#executions.set(execution, (runs = new Map()));
    const known = runs.get(nodeId);
    if (known && params['config'] === undefined) return known;
    if (!isRecord(params['config'])) {
      throw new StudioError(
        'protocol_error',
        `node "${nodeId}" was called without its config in an execution this host does not know`,
      );
    }
    const node = this.#node(textOf(params, 'type'));
    const grants = Array.isArray(params['grants']) ? params['grants'].map(String) : [];
    const run = new NodeRun({ node, executionId: execution, nodeId, config: params['config'], grants });
    runs.set(nodeId, run);
    return run;
  }

  #node(nodeType: string): NodeSpec {
    const node = this.#nodes.get(nodeType);
    if (!node)
      throw new StudioError(
        'unknown_node_type',
        `nodeset "${this.#manifest.name}" has no node "${nodeType}"`,
      );
    return node;
  }

  #batch(params: Parameters): unknown {
    const node = this.#node(textOf(params, 'type'));
    const samples = params['samples'];
    if (!node.forwardBatch || !Array.isArray(samples)) {
      throw new StudioError(
        'invalid_input',
        `node "${node.name}" takes no batches; it needs batched: true and forwardBatch`,
      );
    }
    return after(node.forwardBatch(samples, recordOf(params, 'config')), (outputs) => {
      if (!Array.isArray(outputs) || outputs.length !== samples.length) {
        const got = Array.isArray(outputs) ? `${outputs.length}` : 'no array';
        throw new StudioError(
          'node_failed',
          `forwardBatch of "${node.name}" got ${samples.length} samples and returned ${got}; return one result per sample, in order`,
        );
      }
      return { outputs };
    });
  }

  #aggregate(params: Parameters): unknown {
    const run = this.#executions.get(textOf(params, 'exec'))?.get(textOf(params, 'node'));
    const results = params['results'];
    if (!run?.aggregate || !Array.isArray(results)) {
      throw new StudioError(
        'protocol_error',
        'node.aggregate was called for a node that returned no fire list with an own aggregate',
      );
    }
    return { outputs: run.aggregate(results) };
  }

  #endExecution(execution: string): unknown {
    if (this.#executions.delete(execution)) this.#instance.executionEnd?.(execution);
    return {};
  }

  #evalMetadata(): unknown {
    const stated = this.#instance.evalMetadata?.();
    if (stated === undefined) return null;
    return after(stated, (metadata) =>
      evalMetadataToWire(normaliseEvalMetadata(metadata, `nodeset "${this.#manifest.name}"`)),
    );
  }

  #panel(): EnvPanelSpec {
    const { envPanel } = this.#instance;
    if (!envPanel) throw new StudioError('unsupported', `nodeset "${this.#manifest.name}" has no env panel`);
    return envPanel;
  }
}

interface NodeRunOptions {
  readonly node: NodeSpec;
  readonly executionId: string;
  readonly nodeId: string;
  readonly config: Values;
  readonly grants: readonly string[];
}

/** A node in one execution: what the author sees as its context, reused for every firing. */
class NodeRun implements NodeCallContext {
  readonly node: NodeSpec;
  readonly config: Values;
  readonly executionId: string;
  readonly nodeId: string;
  readonly state = new Map<string, unknown>();
  readonly containers: AskedContainers;
  aggregate: Aggregate | undefined;
  step = 0;
  seed = 0;
  #call: ServedCall | undefined;
  #log: [string, unknown][] | undefined;
  #signals: string[] | undefined;

  constructor({ node, executionId, nodeId, config, grants }: NodeRunOptions) {
    this.node = node;
    this.config = config;
    this.executionId = executionId;
    this.nodeId = nodeId;
    this.containers = new AskedContainers(nodeId, grants);
  }

  begin(params: Parameters, call: ServedCall): void {
    this.step = numberOf(params, 'step');
    this.seed = numberOf(params, 'seed');
    this.#call = call;
    this.#log = undefined;
    this.#signals = undefined;
    this.containers.call = call;
  }

  get signal(): AbortSignal {
    if (!this.#call) throw new StudioError('internal', 'a node context was read outside a firing');
    return this.#call.signal;
  }

  log(key: string, value: unknown): void {
    (this.#log ??= []).push([key, value]);
  }

  emitSignal(name: string): void {
    (this.#signals ??= []).push(name);
  }

  answer(result: NodeResult): Readonly<Record<string, unknown>> {
    if (!isRecord(result)) {
      throw new StudioError(
        'node_failed',
        `forward of "${this.node.name}" returned ${result === null ? 'null' : typeof result}; return an object with one member per output port`,
      );
    }
    const body: Record<string, unknown> = isFireList(result) ? this.#fireList(result) : { outputs: result };
    if (this.#log) body['log'] = this.#log;
    if (this.#signals) body['signals'] = this.#signals;
    return body;
  }

  #fireList({ fireList, aggregate = { recipe: 'merge_all' } }: FireListResult): Record<string, unknown> {
    this.aggregate = typeof aggregate === 'function' ? aggregate : undefined;
    const recipe = typeof aggregate === 'function' ? { name: 'own' } : namedRecipe(aggregate);
    const children = fireList.map((child) => ({
      node_type: child.nodeType,
      inputs: child.inputs,
      config: child.config ?? {},
      label: child.label ?? '',
      capture_outputs: child.captureOutputs ?? true,
    }));
    return { fire_list: children, recipe };
  }
}

function namedRecipe({ recipe: name, ...rest }: { readonly recipe: string }): Values {
  return { name, ...rest };
}

/** `use` in the same turn for a value, later for a promise. */
function after<T>(value: T | Promise<T>, use: (settled: T) => unknown): unknown {
  return value instanceof Promise ? value.then(use) : use(value);
}

function textOf(params: Parameters, key: string): string {
  const value = params[key];
  if (typeof value !== 'string')
    throw new StudioError('protocol_error', `the parameter "${key}" must be a text`);
  return value;
}

function numberOf(params: Parameters, key: string): number {
  const value = params[key];
  return typeof value === 'number' ? value : 0;
}

function recordOf(params: Parameters, key: string): Values {
  const value = params[key];
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
