// A nodeset that hangs when it is imported costs its deadline once, not at every start.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createTestRegistry } from './testing/test-registry.ts';

const hanging = 'await new Promise(() => {});\nexport default {};\nsetInterval(() => {}, 1000);\n';

it('is not waited for again while nothing of it changed, until it is rescanned or changed', async () => {
  await using bench = await createTestRegistry([], { describeMs: { typescript: 700 } });
  const folder = path.join(bench.folder, 'stuck');
  await mkdir(folder);
  await writeFile(path.join(folder, 'nodeset.ts'), hanging);
  await bench.registry.scan({ retryFailed: false });
  expect(bench.registry.list()[0]).toMatchObject({ name: 'stuck', state: 'failed' });
  expect(bench.started).toHaveLength(1);

  const later = bench.again();
  const beganMs = performance.now();
  await later.scan({ retryFailed: false });
  expect(performance.now() - beganMs).toBeLessThan(600);
  expect(bench.started).toHaveLength(1);
  expect(later.list()[0]?.error).toMatch(/nothing of it changed since, .* rescan to try it again/);

  await later.scan();
  expect(bench.started).toHaveLength(2);

  await writeFile(path.join(folder, 'nodeset.ts'), `${hanging}// changed\n`);
  await later.scan({ retryFailed: false });
  expect(bench.started).toHaveLength(3);
  await later[Symbol.asyncDispose]();
}, 30_000);
