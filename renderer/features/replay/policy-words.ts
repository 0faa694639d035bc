// What a recording policy keeps, in words. Pure.
import type { EvalConfig } from '#contract/eval-config.ts';

export function policyWords(policy: EvalConfig['recording']): string {
  if (policy === 'none') return 'The run was started with the recording policy “none”: nothing is kept.';
  if (policy === 'all')
    return 'The run was started with the recording policy “all”: what has ended and is still there is kept.';
  if (policy === 'failures')
    return 'The run was started with the recording policy “failures”: kept are episodes without a verdict, with node errors, or with the worst value of the leading rate, such as success 0.';
  const count = policy.slice('sample:'.length);
  return `The run was started with the recording policy “sample:${count}”: a random sample of ${count} episodes is kept.`;
}
