// How a Play ended, in the contract's form.
import type { PlayResult } from '../contract/play.ts';
import type { RunResult } from '../graph/loop-runner.ts';
import { errorInfoOf } from './error-info.ts';

const keptErrors = 50;

export function playResultOf(result: RunResult, durationMs: number): PlayResult {
  return {
    status: result.status,
    steps: result.steps,
    limit: result.limit,
    harvest: Object.fromEntries(
      Object.entries(result.harvest).map(([name, value]) => [name, finite(value)] as const),
    ),
    nodeErrors: result.nodeErrors
      .slice(0, keptErrors)
      .map(({ nodeId, path, step, error }) => ({ nodeId, path, step, message: error.message })),
    error: result.error ? errorInfoOf(result.error) : null,
    durationMs,
  };
}

function finite(value: number): number | 'nan' | 'inf' | '-inf' {
  if (Number.isNaN(value)) return 'nan';
  if (Number.isFinite(value)) return value;
  return value > 0 ? 'inf' : '-inf';
}
