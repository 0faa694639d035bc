// Every rule rejects what it is for, says where and what to do, and leaves sound graphs alone.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { graphDefinition, type Diagnostic } from '../../contract/graph.ts';
import { parseGraph } from '../definition.ts';
import { graphOf, pivots, sketch, type NodeSketch } from '../testing/graphs.ts';
import { toy, toyCatalog, traceToys } from '../testing/toy-nodes.ts';
import { hasErrors, validateGraph, type ValidationOptions } from './validate.ts';

const toys = [
  ...traceToys,
  toy('cam', [], ['image:IMAGE', 'images:LIST[IMAGE]', 'old:ACTION', 'text:TEXT'], () => ({})),
  toy(
    'eye',
    ['image?:IMAGE', 'images?:LIST[IMAGE]', 'anything?:LIST[ANY]', 'action?:DISCRETE_ACTION'],
    [],
    () => ({}),
  ),
  toy('odd_types', ['x?:LIST[LIST[TEXT]]', 'y?:FANCY', 'z?:OBSERVATION'], [], () => ({})),
];
const catalog = toyCatalog(toys);

function findings(graph: Parameters<typeof validateGraph>[0], options: ValidationOptions = {}): Diagnostic[] {
  return validateGraph(graph, { manifestOf: (type) => catalog.lookup(type)?.manifest }, options);
}

/** `error rule path` per finding. */
function summary(...graph: Parameters<typeof graphOf>): readonly string[] {
  return findings(graphOf(...graph)).map(({ severity, rule, nodePath }) =>
    `${severity} ${rule} ${nodePath}`.trim(),
  );
}

const constant: NodeSketch = { type: 't_const', config: { value: 1 } };
const out = (portName: string): NodeSketch => ({ type: 'graphOut', config: { portName } });
const loop = { seed: constant, ...pivots(['s'], ['u']), tick: 't_counter' };
const loopWires = [
  'seed.value > in.init_s',
  'in.init_s > tick.trigger',
  'in.iterout_u > tick.trigger',
  'tick.count > out.u',
];

describe('a sound graph', () => {
  it('has no findings', () => {
    expect(
      summary(
        { ...loop, judge: 't_inc', score: out('metrics') },
        [...loopWires, 'out.final_u > judge.x', 'judge.y > score.value'],
        { eval_graph: true },
      ),
    ).toEqual([]);
  });

  it('gives every finding a fix and a place', () => {
    const broken = graphOf({ a: 'nowhere__x', b: 't_add', out: { type: 'iterOut' } }, [], {
      step_budget: 0,
      eval_graph: true,
    });
    const all = findings(broken);
    expect(all.length).toBeGreaterThan(4);
    expect(all.every(({ fix, message }) => fix.length > 10 && message.length > 10)).toBe(true);
    expect(hasErrors(all)).toBe(true);
  });
});

describe('node types', () => {
  it('rejects removed and unknown ones, with what to do', () => {
    const [first, second, third] = findings(
      graphOf({ a: 'initialize', b: 'termination', c: 'env_x__step' }, []),
    );
    expect(first).toMatchObject({
      rule: 'removed-node-type',
      nodePath: 'a',
      fix: expect.stringContaining('initPorts'),
    });
    expect(second).toMatchObject({
      rule: 'removed-node-type',
      nodePath: 'b',
      fix: expect.stringContaining("'stop'"),
    });
    expect(third).toMatchObject({
      rule: 'unknown-node-type',
      nodePath: 'c',
      fix: expect.stringContaining("Load the nodeset 'env_x'"),
    });
  });

  it('names the path inside composites', () => {
    const inner = sketch({ deep: { type: 'compositeNode', subgraph: sketch({ x: 'nowhere' }, []) } }, []);
    expect(summary({ box: { type: 'compositeNode', subgraph: inner } }, [])).toEqual([
      'error unknown-node-type box > deep > x',
    ]);
  });
});

describe('budgets', () => {
  it.each([0, -3])('rejects %s on the graph and on a loop', (budget) => {
    expect(summary({ a: constant }, [], { step_budget: budget })).toEqual(['error budget']);
    expect(summary({ ...loop, ...pivots(['s'], ['u'], { budget }) }, loopWires)).toEqual(['error budget in']);
  });

  it("rejects the older spelling too, and a loop's that is no whole number", () => {
    expect(summary({ a: constant }, [], { maxIterations: 0 })).toEqual(['error budget', 'error budget']);
    expect(summary({ ...loop, ...pivots(['s'], ['u'], { budget: 1.5 }) }, loopWires)).toEqual([
      'error budget in',
    ]);
  });
});

describe('pivots', () => {
  it('rejects init_ports and loop_ports', () => {
    const legacy = {
      ...loop,
      in: { type: 'iterIn', config: { pairedWith: 'out', initPorts: [{ name: 's' }], init_ports: [] } },
    };
    expect(summary(legacy, loopWires)).toEqual(['error legacy-iter-in in']);
  });

  it('rejects an iterOut without ports', () => {
    expect(
      summary({ ...loop, out: { type: 'iterOut', config: { pairedWith: 'in', ports: [] } } }, loopWires),
    ).toContain('error iter-out-ports out');
  });

  it.each([
    ['nothing', undefined],
    ['no node', 'nowhere'],
    ['another type', 'tick'],
  ])('rejects a pairing with %s', (_what, pairedWith) => {
    expect(
      summary(
        { ...loop, in: { type: 'iterIn', config: { pairedWith, initPorts: [{ name: 's' }] } } },
        loopWires,
      ),
    ).toContain('error pairing in');
    expect(
      summary(
        { ...loop, out: { type: 'iterOut', config: { pairedWith, ports: [{ name: 'u' }] } } },
        loopWires,
      ),
    ).toContain('error pairing out');
  });

  it('rejects a pairing that is claimed twice', () => {
    const again = { type: 'iterOut', config: { pairedWith: 'in', ports: [{ name: 'u' }] } };
    expect(summary({ ...loop, again }, [...loopWires, 'tick.count > again.u'])).toContain(
      'error pairing again',
    );
  });

  it.each([
    ['in.wrong > tick.trigger', 'in'],
    ['tick.count > out.wrong', 'out'],
    ['out.u > tick.trigger', 'out'],
    ['out > tick.trigger', 'out'],
  ])('rejects the unknown handle of %s', (wire, node) => {
    expect(summary(loop, [...loopWires, wire])).toContain(`error pivot-handle ${node}`);
  });

  it('accepts step, stop, final_stop and a handle that a wire names', () => {
    expect(
      summary({ ...loop, sink: 't_sink', judge: 't_any' }, [
        ...loopWires,
        'in.step > sink.x',
        'tick.done > out.stop',
        'seed.value > in.own',
        'in.own > tick.trigger',
        'out.final_stop > judge.a',
      ]),
    ).toEqual([]);
  });
});

describe('ports and wires', () => {
  it('rejects a required port without a wire, on pivots too', () => {
    const required = pivots([{ name: 's', required: true }], [{ name: 'u', required: true }]);
    expect(summary({ a: constant, sum: 't_add' }, ['a.value > sum.a'])).toEqual(['error required-port sum']);
    expect(summary({ ...loop, ...required }, loopWires.slice(1, 3))).toEqual([
      'error required-port in',
      'error required-port out',
    ]);
  });

  it.each([
    ['cam.image > eye.image', []],
    ['cam.image > eye.images', []],
    ['cam.images > eye.images', []],
    ['cam.images > eye.anything', []],
    ['cam.text > eye.anything', []],
    ['cam > eye.image', []],
    ['cam.text > eye.image', ['error wire-type eye']],
    ['cam.images > eye.image', ['error wire-type eye']],
    ['cam.text > eye.images', ['error wire-type eye']],
    ['cam.old > eye.action', []],
  ])('judges %s', (wire, expected) => {
    expect(summary({ cam: 'cam', eye: 'eye' }, [wire]).filter((line) => line.startsWith('error'))).toEqual(
      expected,
    );
  });

  it('checks types on the ports of pivots and through composites', () => {
    const typed = pivots([{ name: 's', wire_type: 'TEXT' }], [{ name: 'u', wire_type: 'IMAGE' }]);
    expect(
      summary({ cam: 'cam', ...typed, eye: 'eye' }, [
        'cam.image > in.init_s',
        'in.iterout_u > eye.image',
        'cam.image > out.u',
      ]),
    ).toContain('error wire-type in');
    const inner = sketch({ i: { type: 'graphIn', config: { portName: 'p' } }, eye: 'eye' }, [
      'i.value > eye.image',
    ]);
    expect(
      summary({ cam: 'cam', box: { type: 'compositeNode', subgraph: inner } }, ['cam.text > box.p']),
    ).toContain('error wire-type box > eye');
  });

  it('rejects nested lists and warns of unknown and deprecated types', () => {
    expect(summary({ o: 'odd_types' }, [])).toEqual([
      'error nested-list o',
      'warning unknown-wire-type o',
      'warning deprecated-wire-type o',
    ]);
  });

  it('warns of handles no port has, of wires to nowhere and of circles', () => {
    expect(
      summary({ a: constant, b: 't_counter' }, [
        'a.wrong > b.trigger',
        'a.value > b.wrong',
        'a.value > gone.x',
      ]),
    ).toEqual(['warning dangling-wire a', 'warning unknown-handle a', 'warning unknown-handle b']);
    expect(
      summary({ a: constant, b: 't_counter', c: 't_counter' }, [
        'a.value > b.trigger',
        'b.count > c.trigger',
        'c.count > b.trigger',
      ]),
    ).toEqual(['warning cycle b']);
  });

  it('rejects ids that are used twice, and composite ports that do not exist', () => {
    const twice = parseGraph(
      JSON.stringify({
        eval_graph: false,
        nodes: [
          { id: 'a', type: 'note' },
          { id: 'a', type: 'note' },
        ],
      }),
    );
    expect(findings(twice)).toMatchObject([{ rule: 'duplicate-id', nodePath: 'a' }]);
    const inner = sketch({ i: { type: 'graphIn', config: { portName: 'p' } }, t: 't_sink' }, [
      'i.value > t.x',
    ]);
    expect(
      summary(
        {
          a: constant,
          box: { type: 'compositeNode', subgraph: inner },
          empty: 'compositeNode',
          end: 't_any',
        },
        ['a.value > box.p', 'a.value > box.q', 'box.result > end.a'],
      ),
    ).toEqual(['error composite-port box', 'error composite-port box', 'error empty-composite empty']);
  });
});

describe('loops among each other', () => {
  const inner = pivots(['s'], ['u'], { suffix: '2' });
  const nested = {
    ...loop,
    enter: { type: 'graphIn', config: {} },
    ...inner,
    body: 't_counter',
    leave: out('y'),
    after: 't_inc',
  };
  const nestedWires = [
    'seed.value > in.init_s',
    'in.init_s > enter.value',
    'in.iterout_u > tick.trigger',
    'enter.value > in2.init_s',
    'in2.init_s > body.trigger',
    'body.count > out2.u',
    'out2.final_u > leave.value',
    'leave.value > after.x',
    'after.y > out.u',
  ];

  it('accepts wires through named boundaries', () => {
    expect(summary(nested, nestedWires)).toEqual([]);
  });

  it('rejects a wire from one loop into another past the boundary', () => {
    expect(
      summary({ ...nested, after: 't_add' }, [
        ...nestedWires.filter((wire) => !wire.includes('after')),
        'after.sum > out.u',
        'leave.value > after.a',
        'body.count > after.b',
      ]),
    ).toEqual(['error scope-crossing after']);
  });

  it('rejects loops that overlap', () => {
    expect(
      summary({ ...pivots([], ['u']), ...inner, shared: 't_any' }, [
        'in.step > shared.a',
        'in2.step > shared.b',
        'shared.value > out.u',
        'shared.value > out2.u',
      ]),
    ).toContain('error scope-overlap in2');
  });
});

describe('after the loop', () => {
  it('rejects a node after the loop that is fed from inside it, and warns when fed from before it', () => {
    const nodes = { ...loop, judge: 't_add' };
    expect(summary(nodes, [...loopWires, 'out.final_u > judge.a', 'tick.count > judge.b'])).toEqual([
      'error after-loop judge',
    ]);
    expect(summary(nodes, [...loopWires, 'out.final_u > judge.a', 'seed.value > judge.b'])).toEqual([
      'warning after-loop judge',
    ]);
  });

  it('rejects feeding it from a sink that hangs off the loop', () => {
    expect(
      summary({ ...loop, side: 't_inc', judge: 't_add' }, [
        ...loopWires,
        'tick.count > side.x',
        'out.final_u > judge.a',
        'side.y > judge.b',
      ]),
    ).toEqual(['error after-loop judge']);
  });

  it('rejects a second loop after the one whose end is the end of the run', () => {
    expect(
      summary({ ...loop, ...pivots(['s'], ['u'], { suffix: '2' }), tick2: 't_counter' }, [
        ...loopWires,
        'out.final_u > in2.init_s',
        'in2.init_s > tick2.trigger',
        'tick2.count > out2.u',
      ]),
    ).toContain('error after-loop in2');
  });
});

describe('evaluation graphs', () => {
  const evaluated = { eval_graph: true };

  it('need a graphOut, unless they say that they are none or an archived composite', () => {
    expect(summary({ a: constant }, [], evaluated)).toEqual(['error graph-out']);
    expect(summary({ a: constant }, [], { eval_graph: true, kind: 'node' })).toEqual([]);
    expect(summary({ a: constant }, [])).toEqual([]);
  });

  it.each(['metrics', 'success'])(
    'reject %s fed from inside the loop; other ports are only not read',
    (portName) => {
      expect(
        summary({ ...loop, result: out(portName) }, [...loopWires, 'tick.count > result.value'], evaluated),
      ).toEqual(['error verdict-source result']);
      expect(
        summary(
          { ...loop, side: 't_inc', result: out(portName) },
          [...loopWires, 'tick.count > side.x', 'side.y > result.value'],
          evaluated,
        ),
      ).toEqual(['error verdict-source result']);
      expect(
        summary({ ...loop, result: out('frame') }, [...loopWires, 'tick.count > result.value'], evaluated),
      ).toEqual(['warning unread-output result']);
      expect(
        summary({ ...loop, result: out(portName) }, [...loopWires, 'out.final_u > result.value'], evaluated),
      ).toEqual([]);
      expect(summary({ a: constant, result: out(portName) }, ['a.value > result.value'], evaluated)).toEqual(
        [],
      );
    },
  );
});

describe('containers and hooks', () => {
  it('warns of grants that lead nowhere and of custom lifetimes without a signal', () => {
    const more = {
      containers: [{ id: 'mem', states: { s: { lifetime: 'custom' } } }],
      access_grants: [
        { node_id: 'a', container_id: 'gone' },
        { node_id: 'gone', container_id: 'mem' },
      ],
    };
    expect(summary({ a: constant }, [], more)).toEqual([
      'warning custom-lifetime',
      'warning grant a',
      'warning grant',
    ]);
    expect(summary({ a: constant }, [], { containers: [{ id: 'm' }, { id: 'm' }] })).toEqual([
      'error duplicate-id',
    ]);
  });

  it('says that hooks do not run without a POSIX shell', () => {
    const graph = graphOf({ a: constant }, [], { hooks: [{ event: 'GraphStart', command: 'true' }] });
    expect(findings(graph, { platform: 'win32' })).toMatchObject([
      { severity: 'warning', rule: 'hooks-unsupported' },
    ]);
    expect(findings(graph, { platform: 'linux' })).toEqual([]);
    expect(
      findings(
        graphOf({ a: constant }, [], { hooks: [{ event: 'GraphStart', command: 'true', timeout_ms: 0 }] }),
        { platform: 'linux' },
      ),
    ).toMatchObject([{ rule: 'hook-timeout' }]);
  });
});

const file = path.resolve(import.meta.dirname, '../../../../shared/vectors/executor/traces.json');

describe.skipIf(!existsSync(file))('graphs of the reference traces (need ../shared/vectors)', () => {
  it('have no errors', () => {
    const traces = z
      .array(z.object({ name: z.string(), graph: graphDefinition }))
      .parse(JSON.parse(readFileSync(file, 'utf8')));
    const broken = traces.flatMap(({ name, graph }) =>
      findings(graph)
        .filter((finding) => finding.severity === 'error')
        .map((finding) => `${name} ${finding.rule} ${finding.message}`),
    );
    expect(broken).toEqual([]);
    expect(traces.length).toBeGreaterThan(0);
  });
});
