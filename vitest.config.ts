import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: { agentcanvas: fileURLToPath(new URL('./main/nodeset/author/agentcanvas.ts', import.meta.url)) },
  },
  test: {
    include: [
      'main/**/*.test.ts',
      'renderer/**/*.test.{ts,tsx}',
      'electron/**/*.test.ts',
      'resources/**/*.test.ts',
      '.ci/**/*.test.ts',
    ],
    exclude: ['node_modules/**', '.ci/packaging/**', 'dist/**', 'release/**'],
    testTimeout: 180_000,
    hookTimeout: 30_000,
    // Tests with real processes and deadlines run on shared machines; a second try is marked in the report.
    retry: process.env['CI'] === undefined ? 0 : 1,
    pool: 'forks',
    maxWorkers: 2,
  },
});
