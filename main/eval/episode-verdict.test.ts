import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { RunResult } from '../graph/loop-runner.ts';
import { failedOutcome, verdictOf } from './episode-verdict.ts';

const definitions: MetricDefinition[] = ['success', 'spl'].map((name) => ({
  name,
  unit: '',
  kind: 'mean',
  higherIsBetter: true,
  worst: 0,
}));
const result = (more: Partial<RunResult>): RunResult => ({
  status: 'completed',
  steps: 7,
  limit: null,
  harvest: {},
  outputs: {},
  nodeErrors: [],
  scopes: {},
  finalContainers: {},
  ...more,
});

describe('verdict of an episode', () => {
  it('a metric that did not come is null, one that is not finite is typed', () => {
    const verdict = verdictOf(
      result({ harvest: { success: 1, path: Number.NaN, far: Number.NEGATIVE_INFINITY } }),
      definitions,
    );
    expect(verdict).toMatchObject({
      status: 'completed',
      metrics: { success: 1, spl: null, path: 'nan', far: '-inf' },
      limit: null,
    });
  });

  it('no number at all is no verdict', () => {
    expect(verdictOf(result({}), definitions)).toMatchObject({
      status: 'no_verdict',
      metrics: {},
      error: { code: 'no_verdict' },
    });
  });

  it('names the cap that was hit', () => {
    expect(verdictOf(result({ harvest: { success: 0 }, limit: 'step_budget' }), []).limit).toBe(
      'step_budget',
    );
    expect(verdictOf(result({ harvest: { success: 0, truncated: 1 } }), []).limit).toBe('truncated');
  });

  it('a node error makes the episode an error, whatever was harvested after it', () => {
    const cause = new StudioError('remote_error', 'it broke');
    const error = new StudioError('node_failed', 'step at step 2: it broke', {
      cause,
      scope: { nodePath: 'step', step: 2 },
    });
    const verdict = verdictOf(result({ status: 'error', harvest: { success: 1 }, error }), definitions);
    expect(verdict).toMatchObject({
      status: 'error',
      metrics: {},
      error: { code: 'node_failed', scope: { nodePath: 'step', step: 2 } },
    });
  });

  it.each([
    ['timeout', 'timeout'],
    ['process_died', 'died'],
    ['connection_closed', 'died'],
    ['fatal', 'died'],
    ['remote_error', 'error'],
    ['unknown_node_type', 'error'],
  ] as const)('a node that failed with %s means %s', (code, status) => {
    const error = new StudioError('node_failed', 'x', {
      cause: new StudioError(code, 'why'),
      scope: { nodePath: 'a > b', step: 3 },
    });
    const outcome = failedOutcome(error, { phase: 'step', step: 3 });
    expect(outcome.status).toBe(status);
    expect(outcome.error?.scope).toMatchObject({ nodePath: 'a > b', step: 3, phase: 'step' });
    expect(outcome.error?.code).toBe(status === 'error' ? 'node_failed' : code);
  });

  it('a CUDA device out of memory asks for a new process', () => {
    const error = new StudioError(
      'remote_error',
      'RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB',
    );
    expect(failedOutcome(error, { phase: 'step', step: 0 }).status).toBe('died');
  });

  it('keeps exit code, signal and the last lines of a dead process', () => {
    const details = { exitCode: null, signal: 'SIGSEGV', stderrTail: ['a', 'b'] };
    const error = new StudioError('process_died', 'gone', { details });
    expect(failedOutcome(error, { phase: 'reset', step: 0 }).error).toMatchObject({
      ...details,
      scope: { phase: 'reset' },
    });
  });
});
