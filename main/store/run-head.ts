// What a run is, without its plan: a plan of 100,000 episodes is neither sent between threads nor read where work waits.
import type { RunRecord } from '../contract/run.ts';

export type RunHead = Omit<RunRecord, 'plan'> & { readonly planned: number };

export function headOf({ plan, ...record }: RunRecord): RunHead {
  return { ...record, planned: plan.length };
}
