// Small node types for tests: the table of the reference traces, plus a few that hang or wait. Nothing else uses them.
import { nodeManifest, type NodeManifest } from '../../contract/nodeset.ts';
import { createBuiltinCatalog } from '../builtin/catalog.ts';
import { isRecord } from '../pivots.ts';
import {
  StopExecution,
  type FiringContext,
  type ForwardResult,
  type NodeCatalog,
  type PortValues,
} from '../ports.ts';

type Forward = (
  inputs: PortValues,
  context: FiringContext,
  config: PortValues,
) => ForwardResult | Promise<ForwardResult>;

export interface ToyNode {
  readonly manifest: NodeManifest;
  readonly forward: Forward;
}

/** `a`, `a?` (optional) or `a:TYPE`. */
export function toy(
  nodeType: string,
  inputs: readonly string[],
  outputs: readonly string[],
  forward: Forward,
): ToyNode {
  const port = (text: string): object => {
    const [name = '', wireType = 'ANY'] = text.replace('?', '').split(':');
    return { name, wireType, optional: text.includes('?') };
  };
  const manifest = {
    nodeType,
    displayName: nodeType,
    inputPorts: inputs.map(port),
    outputPorts: outputs.map(port),
  };
  return { manifest: nodeManifest.parse(manifest), forward };
}

function number(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new TypeError(`unsupported operand: ${String(JSON.stringify(value))}`);
}

const counter: Forward = (_inputs, context, config) => {
  const count = number(context.state.get('count') ?? 0) + 1;
  const doneAfter = number(config.done_after ?? 0);
  const done = doneAfter > 0 && count >= doneAfter;
  context.state.set('count', done && config.reset === true ? 0 : count);
  return { count, value: count, done };
};

const state: Forward = (inputs, { containers }) => {
  if (!containers.granted.includes('mem')) return { seen: -1, last: null, total: -1 };
  containers.write('mem', 'hist', inputs.x);
  containers.write('mem', 'last', inputs.x);
  containers.write('mem', 'total', 1);
  const history = containers.read('mem', 'hist');
  return {
    seen: Array.isArray(history) ? history.length : -1,
    last: containers.read('mem', 'last'),
    total: containers.read('mem', 'total'),
  };
};

export const traceToys: readonly ToyNode[] = [
  toy('t_const', [], ['value'], (_inputs, _context, config) => ({ value: config.value })),
  toy('t_counter', ['trigger?'], ['count', 'value', 'done'], counter),
  toy('t_add', ['a', 'b'], ['sum'], ({ a, b }) => ({ sum: number(a) + number(b) })),
  toy('t_inc', ['x'], ['y'], ({ x }, _context, config) => ({ y: number(x) + number(config.by ?? 1) })),
  toy('t_any', ['a?', 'b?'], ['keys', 'value'], (inputs) => {
    const numbers = Object.values(inputs).filter((value) => typeof value === 'number');
    return {
      keys: Object.keys(inputs).sort().join(','),
      value: numbers.reduce((sum, value) => sum + value, 0),
    };
  }),
  toy('t_list', ['items:LIST[ANY]'], ['n', 'total'], ({ items }) => {
    const list: readonly unknown[] = Array.isArray(items) ? items : [];
    return { n: list.length, total: list.reduce((sum: number, value) => sum + number(value), 0) };
  }),
  toy('t_odd', ['x'], ['odd', 'even'], ({ x }) => (number(x) % 2 === 0 ? { even: x } : { odd: x })),
  toy('t_fail', ['x'], ['y'], ({ x }, _context, config) => {
    if (x === config.at) throw new Error(`boom at ${String(config.at)}`);
    return { y: x };
  }),
  toy('t_err', ['x'], ['y'], ({ x }, _context, { at }) =>
    x === at ? { error: `bad ${String(at)}` } : { y: x },
  ),
  toy('t_halt', ['x'], ['y'], ({ x }, _context, { at }) => {
    if (number(x) >= number(at)) throw new StopExecution('halt');
    return { y: x };
  }),
  toy('t_sink', ['x'], [], () => ({})),
  toy('t_state', ['x'], ['seen', 'last', 'total'], state),
];

/** Built-ins and toys in one catalog. */
export function toyCatalog(toys: readonly ToyNode[] = traceToys): NodeCatalog {
  const builtins = createBuiltinCatalog();
  const byType = new Map(toys.map((entry) => [entry.manifest.nodeType, entry]));
  return {
    lookup(nodeType) {
      const entry = byType.get(nodeType);
      if (!entry) return builtins.lookup(nodeType);
      const { manifest, forward } = entry;
      return {
        manifest,
        bind: (_id, config) => ({ forward: (inputs, context) => forward(inputs, context, config) }),
      };
    },
  };
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value);
}
