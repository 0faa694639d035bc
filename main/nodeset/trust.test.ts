// The gate asks at the start of each process too: a replica may be replaced long after its run began.
import { expect, it } from 'vitest';
import type { HostLauncher } from './hosts/launcher.ts';
import { guardedLauncher, type TrustAnswer } from './trust.ts';
import type { NodesetSource } from './version.ts';

const source: NodesetSource = {
  name: 'world',
  path: '/nodesets/world',
  entry: '/nodesets/world/__init__.py',
  language: 'python',
  origin: 'workspace',
};
const launcher: HostLauncher = {
  commandFor: async () => ({ command: 'python3', args: ['-m', 'host'], cwd: '/', env: { A: '1' } }),
};
const request = { version: { source, bundlePath: undefined }, instance: 'world#0' };

it('starts no process of a content that was edited since it was trusted, and says what would have run', async () => {
  let answer: TrustAnswer = 'content';
  const guarded = guardedLauncher(launcher, () => answer);
  expect((await guarded.commandFor(request)).env).toEqual({ A: '1', PYTHONDONTWRITEBYTECODE: '1' });
  answer = { path: '/nodesets', hash: 'abc' };
  await expect(guarded.commandFor(request)).rejects.toMatchObject({
    code: 'untrusted',
    message: expect.stringContaining('--trust-content') as string,
    details: { wouldRun: ['python3 -m host'], content: { path: '/nodesets', hash: 'abc' } },
  });
  answer = true;
  expect((await guarded.commandFor(request)).env).toEqual({ A: '1' });
});
