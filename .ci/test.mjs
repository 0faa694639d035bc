// `npm test`: all checks, unit tests, build, end-to-end tests in Chromium. Runs every step even after a failure and
// closes with one plain line of counts. A step without its own counts is one check.
import { mkdir, readFile, rm } from 'node:fs/promises';
import process from 'node:process';
import { checkSteps, endToEndSteps, packagingSteps, reports, runStep } from './steps.mjs';
import { ensureBrowser } from './browser.mjs';

await rm(reports, { recursive: true, force: true });
await mkdir(reports, { recursive: true });
const endToEnd = endToEndSteps();
if (endToEnd.length > 0) process.env.AGENTCANVAS_CHROMIUM = await ensureBrowser();

const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
for (const step of [...checkSteps(), ...packagingSteps(), ...endToEnd]) {
  const { ok, seconds } = await runStep(step);
  const counts = await countsOf(step, ok);
  for (const kind of Object.keys(total)) total[kind] += counts[kind];
  lines.push(
    `${ok ? 'ok  ' : 'FAIL'}  ${step.name.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s  ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
  );
}
console.log(`\n${lines.join('\n')}\n`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);

async function countsOf(step, ok) {
  const plain = { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
  if (!step.report) return plain;
  const report = await readFile(step.report, 'utf8')
    .then(JSON.parse)
    .catch(() => null);
  if (!report) return { passed: 0, failed: 1, skipped: 0 };
  const counts = report.stats
    ? {
        passed: report.stats.expected + report.stats.flaky,
        failed: report.stats.unexpected,
        skipped: report.stats.skipped,
      }
    : {
        passed: report.numPassedTests,
        failed: report.numFailedTests,
        skipped: report.numPendingTests + (report.numTodoTests ?? 0),
      };
  // A step that fails although no single test did (a file that does not load) is a failure of its own.
  return !ok && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}
