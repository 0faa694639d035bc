// Where sockets live.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOwnerMarker, parseMarker } from './owner.ts';
import { createSocketFolder } from './socket-folder.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'acs-'));
});
afterEach(() => rmSync(parent, { recursive: true }));

describe('the socket folder', () => {
  it('is private, gives each socket a path of its own, and is removed with all it holds', async () => {
    const marker = createOwnerMarker();
    const folder = await createSocketFolder(marker, parent);
    const [first, second] = [folder.nextPath(), folder.nextPath()];
    expect(first).not.toBe(second);
    expect(statSync(path.dirname(first)).mode & 0o777).toBe(0o700);
    await folder[Symbol.asyncDispose]();
    expect(readdirSync(parent)).toEqual([]);
  });

  it('of an engine that was killed is removed by the next one, and no other folder', async () => {
    const marker = createOwnerMarker();
    const startTicks = parseMarker(marker)?.startTicks ?? 0;
    const dead = marker.replace(`-${startTicks}-`, `-${startTicks + 1}-`);
    for (const name of [dead, 'ac1-somebody', 'other']) mkdirSync(path.join(parent, name));
    await using _folder = await createSocketFolder(marker, parent);
    expect(readdirSync(parent).toSorted()).toEqual(['ac1-somebody', marker, 'other'].toSorted());
    expect(existsSync(path.join(parent, dead))).toBe(false);
  });

  it('is refused where its paths would be too long for a socket, with what to do', async () => {
    const long = path.join(parent, 'x'.repeat(80));
    mkdirSync(long);
    await expect(createSocketFolder(createOwnerMarker(), long)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('set XDG_RUNTIME_DIR or TMPDIR to a short folder'),
    });
  });
});
