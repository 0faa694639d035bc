import { describe, expect, it } from 'vitest';
import { specFromScript, specFromText } from './requirements.ts';

describe('requirements of a Python nodeset', () => {
  it('are read from a PEP 723 block in every form TOML gives its texts and lists', () => {
    const block = [
      '# a comment',
      'requires-python = ">=3.9,<3.13"',
      'dependencies = [',
      '  "numpy>=1.24", # inside',
      "  'gymnasium[classic-control]==1.0',",
      '  "odd; python_version < \\"3.11\\"",',
      ']',
      'title = "something of another tool"',
      '[tool.uv]',
      'dependencies = ["not", "these"]',
    ].join('\n');
    expect(specFromScript(block)).toEqual({
      requiresPython: '>=3.9,<3.13',
      requirements: ['numpy>=1.24', 'gymnasium[classic-control]==1.0', 'odd; python_version < "3.11"'],
    });
    expect(specFromScript('dependencies=[]')).toEqual({ requiresPython: '', requirements: [] });
    expect(specFromScript('')).toEqual({ requiresPython: '', requirements: [] });
  });

  it('are divided by spaces in the short form, quoted where they contain some', () => {
    expect(specFromText('numpy==1.26  "torch @ file:///a b.whl"').requirements).toEqual([
      'numpy==1.26',
      'torch @ file:///a b.whl',
    ]);
  });

  it.each([
    ['dependencies = ["a" "b"]', /line 1.*comma or the end of the list/],
    ['\ndependencies = 3', /line 2.*list in brackets/],
    ['dependencies = ["a",\n b]', /line 2.*text in quotes/],
    ['dependencies = ["--index-url=http://evil"]', /is no requirement/],
  ])('that cannot be read are refused with the place: %j', (block, message) => {
    expect(() => specFromScript(block)).toThrow(message);
  });

  it('never pass an option to the installer', () => {
    expect(() => specFromText('numpy --extra-index-url=http://x')).toThrow(/no requirement/);
  });
});
