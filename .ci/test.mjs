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
const failures = [];
const secondTries = [];
for (const step of [...checkSteps(), ...packagingSteps(), ...endToEnd]) {
  const { ok, seconds } = await runStep(step);
  const report = await reportOf(step);
  const counts = countsOf(step, ok, report);
  secondTries.push(...retriedTests(report));
  if (!ok) failures.push(...failedTests(step, report));
  for (const kind of Object.keys(total)) total[kind] += counts[kind];
  lines.push(
    `${ok ? 'ok  ' : 'FAIL'}  ${step.name.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s  ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
  );
}
console.log(`\n${lines.join('\n')}\n`);
for (const name of secondTries) console.log(`passed at the second try: ${name}`);
for (const failure of failures) console.log(`failed: ${failure}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);

async function reportOf(step) {
  if (!step.report) return null;
  return readFile(step.report, 'utf8')
    .then(JSON.parse)
    .catch(() => null);
}

function countsOf(step, ok, report) {
  if (!step.report) return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
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

/** Names of the failed tests of one step with the first line of why, for whoever sees only the end of the output. */
function failedTests(step, report) {
  if (!report) return [`${step.name}: no report; its own output says why`];
  const names = report.stats ? failedSpecs(report.suites) : failedUnitTests(report.testResults);
  return names.length > 0 ? names : [`${step.name}: no single test failed; its own output says why`];
}

function failedUnitTests(files) {
  return files.flatMap((file) => {
    const tests = file.assertionResults.filter((test) => test.status === 'failed');
    if (tests.length === 0 && file.status === 'failed') return [`${file.name}: ${firstLine(file.message)}`];
    return tests.map((test) => `${file.name}: ${test.fullName}: ${firstLine(test.failureMessages[0])}`);
  });
}

function failedSpecs(suites) {
  return suites.flatMap((suite) => [
    ...(suite.specs ?? [])
      .filter((spec) => !spec.ok)
      .map(
        (spec) => `${spec.file}: ${spec.title}: ${firstLine(spec.tests[0]?.results.at(-1)?.error?.message)}`,
      ),
    ...failedSpecs(suite.suites ?? []),
  ]);
}

/** Tests that failed once and then passed: allowed in CI, and never silent. */
function retriedTests(report) {
  if (!report) return [];
  if (report.stats) return flakySpecs(report.suites);
  return report.testResults.flatMap((file) =>
    file.assertionResults
      .filter((test) => test.status === 'passed' && test.failureMessages?.length > 0)
      .map((test) => `${file.name}: ${test.fullName}: ${firstLine(test.failureMessages[0])}`),
  );
}

function flakySpecs(suites) {
  return suites.flatMap((suite) => [
    ...(suite.specs ?? [])
      .filter((spec) => spec.tests.some((test) => test.status === 'flaky'))
      .map((spec) => `${spec.file}: ${spec.title}: ${firstLine(spec.tests[0]?.results[0]?.error?.message)}`),
    ...flakySpecs(suite.suites ?? []),
  ]);
}

function firstLine(text) {
  return (text ?? '').split('\n')[0];
}
