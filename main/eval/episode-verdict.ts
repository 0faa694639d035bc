// From what a graph's run left to an episode's outcome. An episode counts as completed only when a number came out;
// which failure it is depends on the first thing that went wrong.
import { StudioError } from '../base/errors.ts';
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { EpisodeAttempt, EpisodeOutcome, MetricValue } from '../contract/run.ts';
import type { RunResult } from '../graph/loop-runner.ts';
import { episodeError, failure, type AttemptOutcome } from './attempt-row.ts';

const keptNodeErrors = 20;

/** Declared metrics that did not come are null: not measured is not 0. */
export function verdictOf(result: RunResult, metrics: readonly MetricDefinition[]): AttemptOutcome {
  const nodeErrors = nodeErrorsOf(result);
  if (result.status === 'error') {
    const error = result.error ?? new StudioError('internal', 'The graph failed without saying why');
    return failedOutcome(error, { phase: 'step', step: result.steps }, result);
  }
  if (result.status === 'stopped') {
    return failure('error', episodeError(new StudioError('aborted', 'The episode was stopped')), nodeErrors);
  }
  const measured = Object.entries(result.harvest);
  if (measured.length === 0) {
    const message =
      'The graph ended without a metric. Connect the environment\'s metrics to a graphOut named "metrics" after the loop.';
    return failure(
      'no_verdict',
      episodeError(new StudioError('no_verdict', message), { phase: 'verdict', step: result.steps }),
      nodeErrors,
    );
  }
  return {
    status: 'completed',
    metrics: {
      ...Object.fromEntries(metrics.map(({ name }) => [name, null])),
      ...Object.fromEntries(measured.map(([name, value]) => [name, metricValue(value)])),
    },
    limit: result.limit ?? (result.harvest['truncated'] === 1 ? 'truncated' : null),
    error: null,
    nodeErrors,
  };
}

export function failedOutcome(
  error: StudioError,
  scope: { readonly phase: string; readonly step: number },
  result?: RunResult,
): AttemptOutcome {
  const cause = error.cause instanceof StudioError ? error.cause : error;
  const outcome = outcomeOf(cause);
  const decisive = outcome === 'error' ? error : cause.within(error.scope);
  return failure(outcome, episodeError(decisive, scope), result ? nodeErrorsOf(result) : []);
}

/** After this a CUDA context cannot be used again. */
const cudaOutOfMemory = /CUDA(?: error:)? out of memory/i;

/** Which failure an error is. What asks for a new process counts as its end. */
function outcomeOf({ code, message }: StudioError): Exclude<EpisodeOutcome, 'completed' | 'no_verdict'> {
  if (cudaOutOfMemory.test(message)) return 'died';
  switch (code) {
    case 'timeout':
      return 'timeout';
    case 'process_died':
    case 'connection_closed':
    case 'protocol_error':
    case 'fatal':
      return 'died';
    default:
      return 'error';
  }
}

function nodeErrorsOf(result: RunResult): EpisodeAttempt['nodeErrors'] {
  return result.nodeErrors
    .slice(0, keptNodeErrors)
    .map(({ path, step, error }) => ({ nodePath: path, message: error.message, step }));
}

function metricValue(value: number): MetricValue {
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
}
