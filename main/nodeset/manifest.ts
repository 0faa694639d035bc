// From what an author wrote to what the product shows: checks a nodeset and its nodes and builds the manifest.
// Every refusal names the nodeset, the node and what to change.
import { nodesetManifest, type NodeManifest, type NodesetManifest } from '../contract/nodeset.ts';
import { wireTypes } from '../contract/graph.ts';
import { StudioError } from '../base/errors.ts';
import type { NodesetInstance, NodesetSpec, NodeSpec, Port } from './author/agentcanvas.ts';

const separator = '__';
const identifier = /^[A-Za-z][A-Za-z0-9_-]*$/;
const wireNames: readonly string[] = wireTypes;

/** `<nodeset>__<tool>` */
export function nodeTypeOf(nodeset: string, tool: string): string {
  return `${nodeset}${separator}${tool}`;
}

/** The nodeset a node type belongs to, or undefined for built-ins. */
export function nodesetOf(nodeType: string): string | undefined {
  const end = nodeType.indexOf(separator);
  return end > 0 ? nodeType.slice(0, end) : undefined;
}

/** The default export of a nodeset module as a spec, or `nodeset_failed` that says what is missing. */
export function nodesetSpecFrom(module: unknown, expectedName: string): NodesetSpec {
  const candidate = isRecord(module) ? module['default'] : undefined;
  if (!isRecord(candidate)) {
    throw refusal(expectedName, 'has no default export; write `export default defineNodeset({ ... })`');
  }
  if (typeof candidate['create'] !== 'function') {
    throw refusal(
      expectedName,
      'has no create(); its default export must be defineNodeset({ name, create() { ... } })',
    );
  }
  const name = candidate['name'];
  if (name !== expectedName) {
    throw refusal(
      expectedName,
      `calls itself ${quoted(name)}; the name must equal the file or folder name, so rename one of them to the other`,
    );
  }
  if (!identifier.test(expectedName) || expectedName.includes(separator)) {
    throw refusal(
      expectedName,
      `must be named with letters, digits, _ and - and without ${quoted(separator)}, starting with a letter`,
    );
  }
  return candidate as unknown as NodesetSpec;
}

/** Checks the instance and describes it. Throws `nodeset_failed` with every finding, one per line. */
export function buildManifest(spec: NodesetSpec, instance: NodesetInstance): NodesetManifest {
  const findings = [...findingsOf(spec, instance)];
  if (findings.length > 0) throw refusal(spec.name, findings.join('\n'));
  const { parallelism = 'shared', description = '', deadlinesSec = {} } = spec;
  const parsed = nodesetManifest.safeParse({
    name: spec.name,
    description,
    language: 'typescript',
    parallelism,
    nodes: instance.nodes.map((node) => nodeManifestOf(spec.name, node)),
    containers: instance.containers ?? [],
    hasEnvPanel: instance.envPanel !== undefined,
    defaultPerStepBudgetSec: spec.defaultPerStepBudgetSec,
    startupTimeoutSec: spec.startupTimeoutSec,
    expectedRamMb: spec.expectedRamMb,
    expectedVramMb: spec.expectedVramMb,
    deadlinesSec,
  });
  if (!parsed.success) {
    throw refusal(
      spec.name,
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'),
    );
  }
  return parsed.data;
}

function nodeManifestOf(nodeset: string, node: NodeSpec): unknown {
  const { inputs = [], outputs = [], configFields = [], displayFields = [] } = node;
  return {
    nodeType: nodeTypeOf(nodeset, node.name),
    displayName: node.displayName ?? node.name,
    description: node.description,
    category: node.category,
    icon: node.icon,
    kind: node.kind,
    inputPorts: inputs,
    outputPorts: outputs,
    defaultConfig: node.defaultConfig,
    uiConfig: { configFields, displayFields },
    batched: node.batched,
    batchDim: node.batchDim ?? null,
  } satisfies { readonly [Key in keyof NodeManifest]?: unknown };
}

function* findingsOf(spec: NodesetSpec, instance: NodesetInstance): Generator<string> {
  if (!isRecord(instance) || !Array.isArray(instance.nodes)) {
    yield 'create() must return an object with `nodes`, an array of defineNode({ ... })';
    return;
  }
  if (spec.parallelism !== undefined && spec.parallelism !== 'shared' && spec.parallelism !== 'replicated') {
    yield `parallelism is ${quoted(spec.parallelism)}; write 'shared' or 'replicated'`;
  }
  const seen = new Set<string>();
  for (const [index, node] of instance.nodes.entries()) {
    if (typeof node?.name !== 'string' || !identifier.test(node.name)) {
      yield `node ${index} has no usable name; use letters, digits, _ and -, starting with a letter`;
      continue;
    }
    if (seen.has(node.name)) yield `two nodes are named ${quoted(node.name)}; rename one`;
    seen.add(node.name);
    yield* nodeFindings(node);
  }
}

function* nodeFindings(node: NodeSpec): Generator<string> {
  const { name, inputs = [], outputs = [] } = node;
  if (typeof node.forward !== 'function')
    yield `node ${quoted(name)} has no forward(inputs, context, config)`;
  yield* portFindings(name, 'input', inputs);
  yield* portFindings(name, 'output', outputs);
  if (node.batched !== true) return;
  if (typeof node.forwardBatch !== 'function') {
    yield `node ${quoted(name)} is batched but has no forwardBatch(samples, config); add it or remove batched`;
  }
  const names = inputs.map((port) => port.name);
  if (node.batchDim === undefined || !names.includes(node.batchDim)) {
    yield `node ${quoted(name)}: batchDim is ${quoted(node.batchDim)}; it must name one of its input ports (${names.join(', ') || 'it has none'})`;
  }
}

function* portFindings(node: string, side: 'input' | 'output', ports: readonly Port[]): Generator<string> {
  if (!Array.isArray(ports)) {
    yield `node ${quoted(node)}: ${side}s must be an array of { name, wireType }`;
    return;
  }
  const seen = new Set<string>();
  for (const port of ports) {
    if (typeof port?.name !== 'string' || port.name === '') {
      yield `node ${quoted(node)}: an ${side} port has no name`;
      continue;
    }
    if (seen.has(port.name))
      yield `node ${quoted(node)} has two ${side} ports named ${quoted(port.name)}; rename one`;
    seen.add(port.name);
    const problem = wireTypeProblem(port.wireType, side);
    if (problem) yield `node ${quoted(node)}, ${side} port ${quoted(port.name)}: ${problem}`;
  }
}

function wireTypeProblem(wireType: string | undefined, side: 'input' | 'output'): string | undefined {
  if (wireType === undefined || wireNames.includes(wireType)) return undefined;
  const element = typeof wireType === 'string' ? /^LIST\[(\w+)\]$/.exec(wireType)?.[1] : undefined;
  if (element === undefined || !wireNames.includes(element)) {
    return `wire type ${quoted(wireType)} is unknown; use one of ${wireNames.join(', ')}${side === 'input' ? ' or LIST[...] of one' : ''}`;
  }
  return side === 'output' ? `LIST[...] is for inputs only; give the output the type ${element}` : undefined;
}

function refusal(nodeset: string, problem: string): StudioError {
  return new StudioError(
    'nodeset_failed',
    `nodeset ${quoted(nodeset)} ${problem.includes('\n') ? `has problems:\n${problem}` : problemSentence(problem)}`,
  );
}

function problemSentence(problem: string): string {
  return /^(has|calls|must)\b/.test(problem) ? problem : `cannot be used: ${problem}`;
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object';
}
