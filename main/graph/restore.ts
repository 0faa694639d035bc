// Going back to a boundary that was kept: containers as they were, counters of that step, and the root loop about to
// begin its next iteration. What nodes keep for themselves is not turned back.
import { StudioError } from '../base/errors.ts';
import { at, type RunState } from './run-state.ts';

/** Throws `not_found` for a step that was not kept, `conflict` while an iteration is being settled. */
export function restoreCheckpoint(run: RunState, step: number): void {
  if (run.phase !== 'loop') {
    throw new StudioError(
      'conflict',
      'this iteration is being finished; step on by one iteration, then go back',
    );
  }
  const position = run.checkpoints.findIndex((checkpoint) => checkpoint.step === step);
  const checkpoint = run.checkpoints[position];
  const scope = run.graph.scopes[run.graph.rootScope];
  if (!checkpoint || !scope) {
    const kept = run.checkpoints.map((other) => other.step).join(', ') || 'none';
    throw new StudioError('not_found', `step ${step} was not kept (kept: ${kept})`);
  }
  run.checkpoints.length = position + 1;
  run.containers.restore(checkpoint.containers);
  run.step = step;
  run.scopeSteps.fill(0);
  run.scopeSteps[run.graph.rootScope] = step;
  run.scopeEnded.fill(0);
  run.finalEmitted.fill(0);
  run.forgetPending();
  run.setSlots(at(run.graph.nodes, scope.iterIn), checkpoint.slots, false);
  run.queue.push(scope.iterIn);
}
