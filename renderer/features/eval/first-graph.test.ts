// At first start the embedded example is ready; later the graph that was used last.
import { describe, expect, it } from 'vitest';
import type { GraphListItem } from '#contract/requests.ts';
import { firstGraph } from './first-graph.ts';

const graph = (name: string, origin: GraphListItem['origin'] = 'library'): GraphListItem => ({
  name,
  ref: origin === 'library' ? `library:${name}` : `/w/graphs/${name}.json`,
  origin,
  description: '',
  nodesets: [],
  evalGraph: true,
  modifiedAt: '2026-11-30T12:00:00.000Z',
});
const shipped = ['breakout_random', 'minivln_cma', 'minivln_random'].map((name) => graph(name));

describe('the graph shown first', () => {
  it('is the shipped policy in the embedded environment, not the first of the alphabet', () => {
    expect(firstGraph(shipped, [])).toBe('library:minivln_cma');
    expect(firstGraph([graph('a'), graph('minivln_random')], [])).toBe('library:minivln_random');
  });

  it('is the one a run was started with last while it is still there', () => {
    expect(firstGraph(shipped, ['/gone.json', 'library:breakout_random'])).toBe('library:breakout_random');
  });

  it('is any when no example is there, and a file that only has its name is no example', () => {
    expect(firstGraph([graph('a'), graph('minivln_cma', 'workspace')], [])).toBe('library:a');
    expect(firstGraph([], [])).toBeNull();
  });
});
