// A shared TypeScript nodeset inside the engine: handlers call the author's functions directly, and a value that is
// returned is used in the same turn. Its code is the engine's guest: it is imported only from trusted folders.
import { pathToFileURL } from 'node:url';
import { withDeadline } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { StudioError, messageOf } from '../base/errors.ts';
import type { EvalMetadata, NodeManifest, NodesetManifest } from '../contract/nodeset.ts';
import {
  FireList,
  type ForwardResult,
  type NodeHandler,
  type NodeType,
  type PortValues,
} from '../graph/ports.ts';
import type { NodeResult, NodesetInstance, NodeSpec } from './author/agentcanvas.ts';
import { createLocalPanel } from './env-panel-client.ts';
import { isFireList } from './fire-list.ts';
import type { LiveNodeset } from './live-nodeset.ts';
import { buildManifest, nodesetSpecFrom, nodeTypeOf } from './manifest.ts';
import type { BatchBackend, EnvPanelClient } from './ports.ts';
import { normaliseEvalMetadata } from './wire-form.ts';

export interface LocalNodesetOptions {
  readonly name: string;
  readonly bundlePath: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly onStage?: (stage: 'importing' | 'initialising') => void;
}

const importTimeoutMs = 60_000;

function importModule(url: string): Promise<unknown> {
  return import(/* @vite-ignore */ url);
}

/** Rejects with `nodeset_failed`, or `timeout` after the nodeset's start-up time. */
export async function loadLocalNodeset(options: LocalNodesetOptions): Promise<LiveNodeset> {
  const { name, clock, signal, onStage } = options;
  const within = <T>(timeoutMs: number, what: string, work: Promise<T>): Promise<T> =>
    withDeadline(work, { clock, timeoutMs, signal, what: `${what} nodeset "${name}"` });
  onStage?.('importing');
  const url = pathToFileURL(options.bundlePath).href;
  const module = await failingAs(name, 'import', () =>
    within(importTimeoutMs, 'importing', importModule(url)),
  );
  const spec = nodesetSpecFrom(module, name);
  const instance = await failingAs(name, 'create', () => spec.create());
  const manifest = buildManifest(spec, instance);
  onStage?.('initialising');
  const readyMs = manifest.startupTimeoutSec * 1000;
  await failingAs(name, 'initialize', () =>
    within(readyMs, 'initialising', Promise.resolve(instance.initialize?.())),
  );
  return new InProcessNodeset(manifest, instance);
}

class InProcessNodeset implements LiveNodeset {
  readonly manifest: NodesetManifest;
  readonly nodeTypes: readonly NodeType[];
  readonly panel: EnvPanelClient | undefined;
  readonly host = undefined;
  readonly #instance: NodesetInstance;

  constructor(manifest: NodesetManifest, instance: NodesetInstance) {
    this.manifest = manifest;
    this.#instance = instance;
    this.panel = instance.envPanel
      ? createLocalPanel(instance.envPanel, `nodeset "${manifest.name}"`)
      : undefined;
    const specs = new Map(instance.nodes.map((node) => [nodeTypeOf(manifest.name, node.name), node]));
    this.nodeTypes = manifest.nodes.flatMap((node) => {
      const spec = specs.get(node.nodeType);
      return spec ? [localNodeType(node, spec)] : [];
    });
  }

  async evalMetadata(): Promise<EvalMetadata | null> {
    const stated = await this.#instance.evalMetadata?.();
    return stated === undefined ? null : normaliseEvalMetadata(stated, `nodeset "${this.manifest.name}"`);
  }

  batchBackend(nodeType: string): BatchBackend | undefined {
    const spec = this.#instance.nodes.find((node) => nodeTypeOf(this.manifest.name, node.name) === nodeType);
    const { forwardBatch } = spec ?? {};
    if (!forwardBatch) return undefined;
    return {
      call: async (samples, config) => await forwardBatch(samples, config),
      // The author's code runs on the engine's thread: there is nothing to kill.
      reset: () => Promise.resolve(),
    };
  }

  endExecution(executionId: string): void {
    try {
      this.#instance.executionEnd?.(executionId);
    } catch {
      // Only the nodeset's own bookkeeping suffers; the execution is over.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#instance.shutdown?.();
  }
}

function localNodeType(manifest: NodeManifest, spec: NodeSpec): NodeType {
  return { manifest, bind: (_nodeId, config): NodeHandler => bindLocal(spec, config) };
}

function bindLocal(spec: NodeSpec, config: PortValues): NodeHandler {
  return {
    forward(inputs, context) {
      const result = spec.forward(inputs, context, config);
      return result instanceof Promise ? result.then(resultOf) : resultOf(result);
    },
  };
}

function resultOf(result: NodeResult): ForwardResult {
  if (result === null || typeof result !== 'object') {
    throw new StudioError('node_failed', 'forward returned no object; return one member per output port');
  }
  if (!isFireList(result)) return result;
  const { fireList, aggregate = { recipe: 'merge_all' } } = result;
  const children = fireList.map((child) => ({
    nodeType: child.nodeType,
    inputs: child.inputs,
    config: child.config ?? {},
    label: child.label ?? '',
    captureOutputs: child.captureOutputs ?? true,
  }));
  return new FireList(children, typeof aggregate === 'function' ? { recipe: 'own', aggregate } : aggregate);
}

async function failingAs<T>(nodeset: string, where: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StudioError && (error.code === 'aborted' || error.code === 'timeout')) throw error;
    const trace = error instanceof Error ? (error.stack?.split('\n').slice(0, 6) ?? []) : [];
    throw new StudioError('nodeset_failed', `nodeset "${nodeset}" failed in ${where}: ${messageOf(error)}`, {
      cause: error,
      scope: { phase: 'start' },
      details: { trace },
    });
  }
}
