// Everything a commit needs, one line per step; stops at the first that fails. `npm test` runs the same steps.
import process from 'node:process';
import { checkSteps, runStep } from './steps.mjs';

for (const step of checkSteps()) {
  const { ok, seconds } = await runStep(step);
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${step.name} (${seconds.toFixed(1)} s)`);
  if (!ok) process.exit(1);
}
