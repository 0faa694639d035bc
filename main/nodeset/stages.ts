// Progress of one nodeset or replica through its start, with elapsed time.
import type { Clock } from '../base/clock.ts';
import type { LoadStage } from './ports.ts';

export type StageName = LoadStage['stage'];

export interface StageReporter {
  report(stage: StageName, more?: { readonly message?: string; readonly logTail?: readonly string[] }): void;
}

export interface StageReporterOptions {
  readonly nodeset: string;
  readonly instance: string;
  readonly clock: Clock;
  readonly onStage?: ((stage: LoadStage) => void) | undefined;
}

export function createStageReporter({
  nodeset,
  instance,
  clock,
  onStage,
}: StageReporterOptions): StageReporter {
  const startedMs = clock.monotonic();
  return {
    report: (stage, more = {}) =>
      onStage?.({ nodeset, instance, stage, elapsedMs: clock.monotonic() - startedMs, ...more }),
  };
}
