// The picture holds every node and only wires whose ends are there.
import { describe, expect, it } from 'vitest';
import { graphPicture } from './graph-picture.ts';

const node = (id: string, x: number, y: number, label = '') => ({
  id,
  type: 't',
  label,
  position: { x, y },
  config: {},
});

describe('graph picture', () => {
  it('frames all nodes and joins those that are wired', () => {
    const picture = graphPicture({
      nodes: [node('a', 0, 0), node('b', 400, 200, 'A label that is much too long')],
      edges: [
        { id: 'e1', source: 'a', target: 'b' },
        { id: 'e2', source: 'a', target: 'gone' },
      ],
    });
    expect(picture.viewBox).toBe('-24 -24 628 296');
    expect(picture.edges.map((edge) => edge.id)).toEqual(['e1']);
    expect(picture.nodes.map((drawn) => drawn.label)).toEqual(['a', 'A label that is mu…']);
  });

  it('is empty for an empty graph', () => {
    expect(graphPicture({ nodes: [], edges: [] })).toEqual({
      viewBox: '0 0 1 1',
      width: 1,
      height: 1,
      nodes: [],
      edges: [],
    });
  });
});
