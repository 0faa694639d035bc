// Mutation testing of the files that keep the five promises. `.ci/mutation.mjs` runs it file by file, each against the
// test files that are about it, and holds every one of them to 90 %.
import process from 'node:process';

export default {
  packageManager: 'npm',
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: '.ci/stryker.vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  inPlace: false,
  symlinkNodeModules: true,
  concurrency: 2,
  timeoutMS: 10_000,
  timeoutFactor: 3,
  // Stryker reads tsconfig.json through an interface that TypeScript 7 does not have; tests run without it.
  tsconfigFile: 'absent.json',
  disableTypeChecks: false,
  checkers: [],
  reporters: ['clear-text', 'json'],
  jsonReporter: { fileName: process.env.MUTATION_REPORT ?? '.cache/mutation/report.json' },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: true },
  tempDirName: process.env.MUTATION_SANDBOX ?? '.cache/mutation/sandbox',
  ignorePatterns: [
    '/.git',
    '/dist',
    '/release',
    '/bench-results',
    '/test-results',
    '/.cache',
    '/resources',
    '/e2e',
    '/renderer',
    '/electron',
    '/docs',
  ],
  allowConsoleColors: false,
  mutate: ['main/process/restart-policy.ts'],
};
