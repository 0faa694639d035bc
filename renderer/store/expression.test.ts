// What an expression accepts, and what it says when it cannot be read.
import { describe, expect, it } from 'vitest';
import type { EpisodeRow } from '#contract/run.ts';
import { compileExpression } from './expression.ts';

const row: EpisodeRow = {
  ordinal: 3,
  key: 'k',
  episodeIndex: 3,
  episodeId: '42',
  sceneId: 'kitchen "two"',
  instruction: null,
  repeat: 0,
  status: 'timeout',
  attempts: 2,
  metrics: { success: 0, spl: 0.25, ndtw: null, broken: 'nan', far: 'inf' },
  steps: 412,
  durationMs: 61_500,
  worker: 1,
  limit: 'step_budget',
  errorCode: 'timeout',
  errorMessage: null,
  retried: true,
};
const metrics = Object.keys(row.metrics);

function accepts(text: string): boolean {
  const compiled = compileExpression(text, metrics);
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.accepts?.(row) ?? true;
}

describe('filter expression', () => {
  it.each([
    ['success == 0 && steps > 400', true],
    ['success == 0 && steps > 412', false],
    ['success == 1 || status == "timeout"', true],
    ['success == 1 || spl > 0.1 && steps < 10', false],
    ['(success == 1 || spl > 0.1) && steps >= 412', true],
    ['!(status == "completed")', true],
    ['!success', true],
    ['!!success', false],
    ['scene == \'kitchen "two"\'', true],
    ['scene ~ KITCH', true],
    ['scene ~ "bath"', false],
    ['status == timeout', true],
    ['status = "timeout"', true],
    ['durationMs > 61000 && duration_ms < 62000', true],
    ['episode_id == 42', true],
    ['steps == "412"', true],
    ['duration > 61 && duration < 62', true],
    ['metrics.spl <= 0.25', true],
    ['spl > -1e-3', true],
    ['far > 1e300', true],
    ['far == inf', true],
    ['broken == null', true],
    ['broken != 3', false],
    ['retried', true],
    ['  ', true],
  ])('%s is %s', (text, expected) => {
    expect(accepts(text)).toBe(expected);
  });

  it('treats what is not measured as null, never as 0', () => {
    expect(accepts('ndtw == 0')).toBe(false);
    expect(accepts('ndtw < 1')).toBe(false);
    expect(accepts('ndtw == null')).toBe(true);
    expect(accepts('spl != null')).toBe(true);
    expect(accepts('ndtw != 0')).toBe(false);
    expect(accepts('!(ndtw > 0)')).toBe(true);
  });

  it('prints what the engine understands, in its names and units', () => {
    const printed = (text: string): string => {
      const compiled = compileExpression(text, metrics);
      return compiled.ok ? compiled.engineText : compiled.message;
    };
    expect(printed('duration > 1.5 && !(scene ~ kit || error == null)')).toBe(
      '(duration_ms > 1500 && !((scene_id ~ "kit" || error_code == null)))',
    );
    expect(printed('spl')).toBe('metrics.spl');
    expect(printed('scene == \'a "b"\'')).toBe('scene_id == \'a "b"\'');
    expect(printed('far < inf')).toBe('metrics.far < inf');
  });

  it.each([
    ['steps > null', 6, 'null'],
    ['400 < steps', 0, 'column'],
    ['sucess == 0', 0, 'success'],
    ['steps >', 7, 'missing'],
    ['steps > 3 spl > 1', 10, '&&'],
    ['(steps > 3', 10, 'parenthesis'],
    ['status == "x', 10, 'quote'],
    ['&& steps', 0, 'column'],
    ['constructor == 1', 0, 'No column'],
    [`${'('.repeat(100)}steps${')'.repeat(100)}`, 50, 'nested'],
  ])('says where %s goes wrong', (text, at, hint) => {
    const compiled = compileExpression(text, metrics);
    expect(compiled.ok).toBe(false);
    if (compiled.ok) return;
    expect(compiled.message).toContain(hint);
    expect(Math.abs(compiled.at - at)).toBeLessThanOrEqual(1);
  });
});
