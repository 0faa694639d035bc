// Conditions are expressions the parser accepts, with the meaning they were built for.
import { describe, expect, it } from 'vitest';
import { compileExpression } from '../../store/expression.ts';
import { conditionText, fullFilter, withCondition } from './condition.ts';

describe('condition', () => {
  it.each([
    ['steps', '>', ' 400 ', 'steps > 400'],
    ['episode', '==', '42', 'episode == "42"'],
    ['scene', '!=', 'a "b"', `scene != 'a "b"'`],
    ['scene', '~', 'kit', 'scene ~ "kit"'],
    ['spl', 'missing', '', 'spl == null'],
    ['status', '==', 'error', 'status == "error"'],
  ] as const)('%s %s %s reads %s', (column, operator, value, text) => {
    expect(conditionText(column, operator, value)).toBe(text);
    expect(compileExpression(text, ['spl']).ok).toBe(true);
  });

  it('keeps the meaning of what was there', () => {
    expect(withCondition('', 'a > 1')).toBe('a > 1');
    expect(withCondition('a > 1', 'b > 2')).toBe('a > 1 && b > 2');
    expect(withCondition('a > 1 || c > 3', 'b > 2')).toBe('(a > 1 || c > 3) && b > 2');
    expect(fullFilter('steps > 1', ['error', 'died'])).toBe(
      'steps > 1 && (status == "error" || status == "died")',
    );
    expect(fullFilter('steps > 1', [])).toBe('steps > 1');
  });
});
