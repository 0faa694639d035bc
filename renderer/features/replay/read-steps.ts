// Steps of a recording in pages of a known size. The engine gives fewer at a time where a step has very many firings.
import type { RecordedStep } from '#contract/replay.ts';

export type AskForSteps = (fromStep: number, limit: number) => Promise<readonly RecordedStep[]>;

/** All of the page, or what there is of it. */
export async function readWholePage(
  ask: AskForSteps,
  fromStep: number,
  limit: number,
): Promise<RecordedStep[]> {
  const steps: RecordedStep[] = [];
  while (steps.length < limit) {
    const more = await ask(fromStep + steps.length, limit - steps.length);
    if (more.length === 0) break;
    steps.push(...more);
  }
  return steps;
}
