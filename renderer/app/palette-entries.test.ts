// What the palette finds and in which order.
import { describe, expect, it } from 'vitest';
import { paletteEntries } from './palette-entries.ts';

const graph = (name: string, description = '') => ({
  name,
  ref: `library:${name}`,
  origin: 'library' as const,
  description,
  nodesets: [],
  evalGraph: true,
  modifiedAt: '',
});
const sources = {
  actions: [
    { id: 'go.history' as const, title: 'Go to History', chord: 'G H' },
    { id: 'theme.toggle' as const, title: 'Switch between light and dark', chord: null },
  ],
  graphs: [graph('minivln-policy', 'recurrent policy'), graph('history-free', 'ablation')],
  runs: [],
};
const titles = (text: string): string[] => paletteEntries(text, sources).map((entry) => entry.title);

describe('palette', () => {
  it('offers everything at first and only what has every word then', () => {
    expect(titles('')).toHaveLength(4);
    expect(titles('recurrent mini')).toEqual(['minivln-policy']);
    expect(titles('nothing like it')).toEqual([]);
  });

  it('puts titles that begin with the word first', () => {
    expect(titles('history')).toEqual(['history-free', 'Go to History']);
    expect(titles('DARK')).toEqual(['Switch between light and dark']);
  });
});
