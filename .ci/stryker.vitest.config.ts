// The test files one mutated file is judged by, named by `.ci/mutation.mjs` in MUTATION_TESTS.
import { fileURLToPath } from 'node:url';
import process from 'node:process';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

export default defineConfig({
  root,
  resolve: { alias: { agentcanvas: `${root}main/nodeset/author/agentcanvas.ts` } },
  test: {
    include: (process.env['MUTATION_TESTS'] ?? 'main/process/restart-policy.test.ts').split(','),
    exclude: ['node_modules/**'],
    testTimeout: 20_000,
  },
});
