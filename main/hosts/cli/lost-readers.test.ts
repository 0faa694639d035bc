// The command line in a pipe whose reader leaves at once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../store/testing/sample-store.ts';
import { outliveReaders } from './lost-readers.ts';

const cli = join(import.meta.dirname, '..', 'cli.ts');

describe('a reader that goes away', () => {
  it('does not end the run it was shown', async () => {
    await using folder = await temporaryFolder();
    const child = spawn(
      process.execPath,
      [cli, '--workspace', folder.path, 'eval', 'minivln_expert', '--split', 'val_seen', '--episodes', '8'],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, AGENTCANVAS_HOME: join(folder.path, 'home') },
      },
    );
    child.stdout.once('data', () => child.stdout.destroy());
    const told = text(child.stderr);
    const [code] = (await once(child, 'exit')) as [number | null];
    expect([code, await told]).toEqual([0, expect.not.stringContaining('EPIPE') as string]);
  });
});

describe('output that cannot be written for another reason', () => {
  it('is told once', () => {
    const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
    const told: string[] = [];
    using _readers = outliveReaders(streams, ({ message }) => void told.push(message));
    const failing = (code: string): void =>
      void streams.stdout.emit('error', Object.assign(new Error(code), { code }));
    failing('EPIPE');
    failing('ENOSPC');
    failing('ENOSPC');
    expect(told).toEqual(['ENOSPC']);
  });
});
