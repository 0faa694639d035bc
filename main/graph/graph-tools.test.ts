import { describe, expect, it } from 'vitest';
import { executableFields, graphHash, requiredNodesets } from './graph-tools.ts';
import { graphOf, sketch } from './testing/graphs.ts';

describe('graph tools', () => {
  it('names the nodesets a graph needs, composites included, once each', () => {
    const inner = sketch({ x: 'env_two__step', y: 'env__step' }, []);
    expect(
      requiredNodesets(
        graphOf({ a: 'env__reset', b: 'textParse', c: { type: 'box__fake', subgraph: inner } }, []),
      ),
    ).toEqual(['env', 'env_two']);
  });

  it('hashes what runs, not how it is drawn or in which order keys stand', () => {
    const graph = graphOf({ a: { type: 't', config: { x: 1, y: 2 } } }, []);
    const moved = {
      ...graph,
      name: 'other',
      description: 'd',
      nodes: graph.nodes.map((node) => ({
        ...node,
        label: 'L',
        position: { x: 9, y: 9 },
        config: { y: 2, x: 1 },
      })),
    };
    expect(graphHash(moved)).toBe(graphHash(graph));
    expect(graphHash(graphOf({ a: { type: 't', config: { x: 2, y: 2 } } }, []))).not.toBe(graphHash(graph));
    expect(graphHash(graphOf({ a: { type: 't', config: { x: 1, y: 2 } } }, [], { step_budget: 3 }))).not.toBe(
      graphHash(graph),
    );
  });

  it('lists every command that would run', () => {
    const hook = (command: string, enabled = true): object => ({ event: 'GraphStart', command, enabled });
    const inner = sketch({ x: { type: 't', config: { hooks: [hook('inside')] } } }, []);
    const graph = graphOf(
      {
        a: { type: 't', config: { hooks: [hook('own'), 'nonsense'] } },
        box: { type: 'compositeNode', subgraph: inner },
      },
      [],
      { hooks: [hook('one'), hook('off', false)] },
    );
    expect(executableFields(graph).map(({ where, command }) => `${where}: ${command}`)).toEqual([
      'hooks[0]: one',
      'a: own',
      'box > x: inside',
    ]);
  });
});
