// The engine's log file.
import { mkdtemp, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openLogFiles } from './log-files.ts';

it('writes one JSON line per message with its fields and bindings', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'log '));
  const files = openLogFiles(path.join(folder, 'logs'));
  files.logger.child({ run: 'r1' }).warn('a replica died', { instance: 'minivln#0' });
  files.logger.info('plain');
  await files[Symbol.asyncDispose]();
  const lines = (await readFile(files.file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toMatchObject([
    { level: 40, msg: 'a replica died', run: 'r1', instance: 'minivln#0' },
    { level: 30, msg: 'plain' },
  ]);
});
