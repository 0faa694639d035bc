// Log files on a real disk.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RotatedFile, fileNameOf } from './rotated-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'acr-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a rotated file', () => {
  it('keeps the newest lines in three files of bounded size', async () => {
    const file = new RotatedFile(path.join(folder, 'x.log'), { rotateBytes: 1000 });
    for (let batch = 0; batch < 60; batch++) {
      for (let line = 0; line < 10; line++) file.append(`line ${batch * 10 + line}`);
      await file[Symbol.asyncDispose]();
    }
    expect(readdirSync(folder).toSorted()).toEqual(['x.1.log', 'x.2.log', 'x.log']);
    const kept = ['x.2.log', 'x.1.log', 'x.log'].flatMap((name) =>
      readFileSync(path.join(folder, name), 'utf8').trim().split('\n'),
    );
    expect(kept.at(-1)).toBe('line 599');
    expect(kept).toEqual(
      Array.from({ length: kept.length }, (_, index) => `line ${600 - kept.length + index}`),
    );
    for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).size).toBeLessThan(1200);
  });

  it('goes on after an earlier run', async () => {
    writeFileSync(path.join(folder, 'x.log'), 'before\n');
    const file = new RotatedFile(path.join(folder, 'x.log'));
    file.append('after');
    await file[Symbol.asyncDispose]();
    expect(readFileSync(path.join(folder, 'x.log'), 'utf8')).toBe('before\nafter\n');
  });

  it('counts what it cannot write and never throws', async () => {
    writeFileSync(path.join(folder, 'blocked'), '');
    const file = new RotatedFile(path.join(folder, 'blocked', 'x.log'));
    file.append('lost');
    await file[Symbol.asyncDispose]();
    rmSync(path.join(folder, 'blocked'));
    file.append('kept');
    await file[Symbol.asyncDispose]();
    expect(readFileSync(path.join(folder, 'blocked', 'x.log'), 'utf8')).toMatch(/^kept\n\[1 lines left out/);
  });

  it('has a name that every system takes', () => {
    expect(['minivln#0', '../a b', 'CON:1', ''].map(fileNameOf)).toEqual([
      'minivln#0',
      '__a_b',
      'CON_1',
      '_',
    ]);
  });
});
