// Opening and saving graphs: limits, messages, older spellings, and nothing lost.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import { parseGraph } from './definition.ts';
import { newGraphText, saveGraph } from './edit.ts';
import { graphLimits } from './limits.ts';

function refusal(text: string): StudioError {
  try {
    parseGraph(text);
  } catch (thrown) {
    if (thrown instanceof StudioError) return thrown;
    throw thrown;
  }
  throw new Error('was accepted');
}

const written = `{
    "name": "kept",
    "step_budget": 5,   "x_unknown": {"big": 9007199254740993, "float": 1.0, "exp": 1E3},
    "nodes": [
        {"id": "a", "type": "t", "position": {"x": 1.50, "y": -0.0}, "config": {"big": 9007199254740993, "n": 1.0}, "extra": [1.0, 2]},
        {"id": "b", "type": "t", "config": {"list": [1.0, 2.0, 3.0]}},
        {"id": "c", "type": "t"}
    ],
    "edges": [{"id": "e", "source": "a", "target": "b"}]
}
`;

describe('opening', () => {
  it('types known fields, fills defaults and keeps unknown ones', () => {
    const graph = parseGraph(written);
    expect(graph.nodes[2]).toEqual({ id: 'c', type: 't', label: '', position: { x: 0, y: 0 }, config: {} });
    expect(graph.nodes[0]?.extra).toEqual([1, 2]);
    expect(graph.eval_graph).toBe(true);
  });

  it.each([
    ['[]', 'graph: expected object, got a list of 0'],
    ['{"nodes": [{"id": 5, "type": "t"}]}', 'nodes[0].id: expected string, got number 5'],
    ['{"nodes": [{"id": "a"}]}', 'nodes[0].type: expected string, got nothing'],
    ['{"step_budget": 1.5}', 'step_budget: expected int, got number 1.5'],
    ['{"hooks": [{"event": "Never", "command": ""}]}', 'hooks[0].event: expected one of PreNodeExecute'],
    [
      '{"nodes": [{"id": "a", "type": "t", "subgraph": {"edges": 1}}]}',
      'nodes[0].subgraph.edges: expected array, got number 1',
    ],
  ])('%s is refused with path, expected and got', (text, message) => {
    const error = refusal(text);
    expect(error.code).toBe('invalid_input');
    expect(error.message).toContain(message);
    expect(error.message.length).toBeLessThan(300);
  });

  it('refuses what is not JSON, in one short line', () => {
    expect(refusal('{"nodes": [').message).toMatch(/^graph: expected JSON, got /);
    expect(refusal(`{"${'x'.repeat(10_000)}`).message.length).toBeLessThan(300);
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'refuses the key %s anywhere, however it is written',
    (key) => {
      expect(refusal(`{"x": [{"y": {"${key}": 1}}]}`).message).toContain(key);
      const escaped = key.replace('o', '\\u006f');
      expect(refusal(`{"${escaped}": 1}`).code).toBe('invalid_input');
    },
  );

  it('refuses depth before it walks anything', () => {
    expect(refusal('{"a":'.repeat(65) + '1' + '}'.repeat(65)).code).toBe('graph_too_large');
    expect(refusal('['.repeat(1_000_000)).code).toBe('graph_too_large');
    const deepest = '{"a":'.repeat(64) + '1' + '}'.repeat(64);
    expect(() => parseGraph(deepest)).not.toThrow();
    expect(() => parseGraph(`{"name": "${'[{'.repeat(100)}\\"["}`)).not.toThrow();
  });

  it('refuses size, nodes and edges beyond the limits, subgraphs included', () => {
    expect(refusal(`{"name": "${'x'.repeat(graphLimits.bytes)}"}`).code).toBe('graph_too_large');
    const node = (index: number): object => ({ id: `n${index}`, type: 't' });
    const inner = { nodes: Array.from({ length: 4999 }, (_none, index) => node(index)) };
    const graph = (outer: number): string =>
      JSON.stringify({
        nodes: [
          { id: 'box', type: 'compositeNode', subgraph: inner },
          ...Array.from({ length: outer }, (_none, index) => node(index)),
        ],
      });
    expect(() => parseGraph(graph(0))).not.toThrow();
    expect(refusal(graph(1)).message).toContain('nodes: expected at most 5000');
    const edges = Array.from({ length: 20_001 }, (_none, index) => ({
      id: `e${index}`,
      source: 'a',
      target: 'b',
    }));
    expect(refusal(JSON.stringify({ edges })).message).toContain('edges: expected at most 20000');
    expect(() =>
      parseGraph(JSON.stringify({ nodes: [{ id: 'a', type: 't', config: { edges } }] })),
    ).not.toThrow();
  });

  it('never throws anything but a typed, short error', () => {
    const check = (): void =>
      fc.assert(
        fc.property(
          fc.oneof(
            fc.string(),
            fc.json(),
            graphLike().map((value) => JSON.stringify(value)),
          ),
          (text) => {
            try {
              parseGraph(text);
              return true;
            } catch (thrown) {
              return thrown instanceof StudioError && thrown.message.length < 300;
            }
          },
        ),
        { numRuns: 300 },
      );
    expect(check).not.toThrow();
  });
});

describe('older spellings', () => {
  it('reads maxIterations as the step budget, unless there is one', () => {
    expect(parseGraph('{"maxIterations": 7}').step_budget).toBe(7);
    expect(parseGraph('{"maxIterations": 7, "step_budget": 3}').step_budget).toBe(3);
    expect(parseGraph('{"maxIterations": 7, "step_budget": null}').step_budget).toBeNull();
  });

  it('turns containers drawn as nodes into containers and their wires into grants, inside composites too', () => {
    const level = {
      nodes: [
        { id: 'n', type: 't' },
        {
          id: 'mem',
          type: 'stateContainer',
          label: 'Memory',
          position: { x: 1, y: 2 },
          config: { states: { last: { type: 'lastWrite' } } },
        },
      ],
      edges: [
        { id: 'g', source: 'n', target: 'mem', sourceHandle: '__state__', targetHandle: 'state' },
        { id: 'h', source: 'mem', target: 'n' },
      ],
    };
    const graph = parseGraph(
      JSON.stringify({
        ...level,
        nodes: [...level.nodes, { id: 'box', type: 'compositeNode', subgraph: level }],
      }),
    );
    for (const part of [graph, graph.nodes.find((node) => node.id === 'box')?.subgraph]) {
      expect(part?.nodes.map((node) => node.type)).not.toContain('stateContainer');
      expect(part?.containers).toMatchObject([
        { id: 'mem', label: 'Memory', states: { last: { type: 'lastWrite', lifetime: 'forever' } } },
      ]);
      expect(part?.access_grants.map((grant) => [grant.node_id, grant.container_id])).toEqual([
        ['n', 'mem'],
        ['n', 'mem'],
      ]);
      expect(part?.edges).toEqual([]);
    }
  });
});

describe('saving', () => {
  const edit = (change: (graph: ReturnType<typeof parseGraph>) => void, text = written): string => {
    const graph = parseGraph(text);
    change(graph);
    return saveGraph(text, graph);
  };

  it('leaves an unedited graph byte for byte as it was', () => {
    expect(edit(() => undefined)).toBe(written);
    const odd = `\ufeff{"nodes":[],\r\n\t"edges" : [ ] }`;
    expect(edit(() => undefined, odd)).toBe(odd);
    const old = '{"maxIterations": 7, "nodes": [{"id": "mem", "type": "stateContainer"}]}';
    expect(edit(() => undefined, old)).toBe(old);
  });

  it('changes only what was changed', () => {
    const moved = edit((graph) => void (graph.nodes[1]!.position = { x: 10, y: 20 }));
    expect(moved).toContain('9007199254740993, "float": 1.0, "exp": 1E3');
    expect(moved).toContain('"position": {"x": 1.50, "y": -0.0}');
    expect(moved).toContain('"config": {"list": [1.0, 2.0, 3.0]}');
    expect(parseGraph(moved).nodes[1]?.position).toEqual({ x: 10, y: 20 });
    const renamed = edit((graph) => void (graph.name = 'new'));
    expect(renamed).toBe(written.replace('"kept"', '"new"'));
  });

  it('adds and removes nodes and wires and leaves the others alone', () => {
    const result = edit((graph) => {
      graph.nodes.splice(1, 1);
      graph.nodes.unshift({ id: 'first', type: 't', label: '', position: { x: 0, y: 0 }, config: {} });
      graph.edges.push({ id: 'f', source: 'first', target: 'c' });
    });
    expect(result).toContain('"config": {"big": 9007199254740993, "n": 1.0}, "extra": [1.0, 2]');
    const saved = parseGraph(result);
    expect(saved.nodes.map((node) => node.id)).toEqual(['first', 'a', 'c']);
    expect(saved.edges.map((edge) => edge.id)).toEqual(['e', 'f']);
  });

  it('writes translated containers only once something was edited, and then not twice', () => {
    const old =
      '{"nodes": [{"id": "n", "type": "t"}, {"id": "mem", "type": "stateContainer"}], "edges": [{"id": "g", "source": "n", "target": "mem"}]}';
    const result = edit((graph) => void (graph.name = 'x'), old);
    expect(result).not.toContain('stateContainer');
    expect(parseGraph(result)).toMatchObject({
      name: 'x',
      containers: [{ id: 'mem' }],
      access_grants: [{ node_id: 'n', container_id: 'mem' }],
      edges: [],
    });
  });

  it('saves what it opens, whatever was changed (property)', () => {
    fc.assert(
      fc.property(graphLike(), graphLike(), fc.constantFrom(undefined, 2, '\t'), (before, after, indent) => {
        const text = JSON.stringify(before, null, indent);
        const edited = parseGraph(JSON.stringify(after));
        expect(saveGraph(text, parseGraph(text))).toBe(text);
        expect(parseGraph(saveGraph(text, edited))).toEqual(edited);
      }),
      { numRuns: 300 },
    );
  });

  it('writes a new graph so that it opens as it was', () => {
    const graph = parseGraph(written.replace('-0.0', '0'));
    expect(parseGraph(newGraphText(graph))).toEqual(graph);
  });

  it('keeps up with a large graph of which every node moved', () => {
    const nodes = Array.from({ length: 3000 }, (_none, index) => ({
      id: `n${index}`,
      type: 't',
      position: { x: index, y: 0 },
      config: { note: 'x'.repeat(200) },
    }));
    const text = JSON.stringify({ nodes }, null, 2);
    const startedMs = performance.now();
    const result = edit((graph) => {
      for (const node of graph.nodes) node.position.y = 5;
    }, text);
    expect(parseGraph(result).nodes.every((node) => node.position.y === 5)).toBe(true);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});

/** Graph-shaped values with unknown fields, nested graphs and lists whose members come, go and change. */
function graphLike(): fc.Arbitrary<object> {
  const scalar = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string(),
    fc.boolean(),
    fc.constant(null),
  );
  const name = fc
    .string({ minLength: 1, maxLength: 4 })
    .filter((key) => !['__proto__', 'constructor', 'prototype'].includes(key));
  const config = fc.dictionary(
    name,
    fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(name, scalar, { maxKeys: 2 })),
    { maxKeys: 3 },
  );
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const level = (depth: number): fc.Arbitrary<object> => {
    const base = { id, type: fc.constantFrom('t', 'u'), config };
    const node =
      depth > 0
        ? fc.record({ ...base, subgraph: level(depth - 1) }, { requiredKeys: ['id', 'type'] })
        : fc.record(base, { requiredKeys: ['id', 'type'] });
    return fc.record(
      {
        name: fc.string(),
        nodes: fc.uniqueArray(node, { selector: (entry) => entry.id, maxLength: 4 }),
        edges: fc.uniqueArray(fc.record({ id, source: id, target: id }), {
          selector: (entry) => entry.id,
          maxLength: 3,
        }),
        step_budget: fc.option(fc.integer({ min: 1, max: 9 })),
        extra: fc.oneof(scalar, config),
      },
      { requiredKeys: [] },
    );
  };
  return level(1);
}
