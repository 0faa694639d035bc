import { describe, expect, it } from 'vitest';
import { meetsVersion } from './python-versions.ts';

describe('a Python version', () => {
  it.each([
    ['3.11.7', '>=3.9', true],
    ['3.9.0', '>=3.9,<3.13', true],
    ['3.13.0', '>=3.9,<3.13', false],
    ['3.10.13', '==3.10.*', true],
    ['3.10.13', '==3.10', false],
    ['3.10.13', '~=3.9', true],
    ['4.0.0', '~=3.9', false],
    ['3.10.13', '~=3.10.2', true],
    ['3.11.0', '~=3.10.2', false],
    ['3.9.1', '>3.9', false],
    ['3.10.0', '>3.9', true],
    ['3.8.18', '!=3.8.*', false],
    ['3.11.7', '', true],
    ['3.11.7', 'newest', false],
  ])('%s meets "%s": %s', (version, specifier, expected) => {
    expect(meetsVersion(version, specifier)).toBe(expected);
  });
});
