// Real children that print, flood, fork and refuse to end.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { spawnManaged, type SpawnedProcess } from './managed-process.ts';
import { childMarker, createOwnerMarker, isOwnerDead, parseMarker } from './owner.ts';
import type { SpawnOptions } from './ports.ts';
import { killTree } from './kill-tree.ts';
import { isRunning, readEntry } from './process-table.ts';

const owner = createOwnerMarker();
let folder: string;
let count = 0;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'acm-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(script: string, options: Partial<SpawnOptions> = {}): Promise<SpawnedProcess> {
  return spawnManaged(
    { command: process.execPath, args: ['-e', script], cwd: folder, label: 'child', ...options },
    { clock: systemClock, marker: childMarker(owner, ++count) },
  );
}

function isAlive(pid: number): boolean {
  const entry = readEntry(pid);
  return entry !== undefined && isRunning(entry);
}

describe('a managed process', () => {
  it('reports its exit code and keeps both outputs apart', async () => {
    const child = await run(`console.log('out'); console.error('err'); process.exitCode = 3`);
    expect(await child.exited).toEqual({ exitCode: 3, signal: null });
    expect([child.stdoutTail(), child.stderrTail()]).toEqual([['out'], ['err']]);
  });

  it('leads its own group at lower priority and carries its owner’s marker', async () => {
    await using child = await run(`console.log(process.env.AGENTCANVAS_OWNER); setInterval(() => {}, 1000)`);
    expect(os.getPriority(child.pid)).toBe(10);
    expect(readEntry(child.pid)?.group ?? child.pid).toBe(child.pid);
    while (child.stdoutTail().length === 0) await delay(5);
    expect(child.stdoutTail()).toEqual([child.marker]);
  });

  it('has control characters, escape sequences and broken UTF-8 removed from its lines', async () => {
    const child = await run(
      String.raw`process.stdout.write(Buffer.from('\x1b[31mred\x1b[0m\x07 ok\r\n\tü\xff', 'latin1')); process.stdout.write('日本\n')`,
    );
    await child.exited;
    expect(child.stdoutTail()).toEqual(['red ok', '\t��日本']);
  });

  it('keeps characters whole that arrive in two pieces', async () => {
    const child = await run(
      `const b = Buffer.from('日本'); process.stdout.write(b.subarray(0, 4)); setTimeout(() => process.stdout.write(b.subarray(4)), 80)`,
    );
    await child.exited;
    expect(child.stdoutTail()).toEqual(['日本']);
  });

  it('that floods its output is read to the end at little cost, and its last lines are kept', async () => {
    const lines = `${'x'.repeat(99)}\n`.repeat(10_000);
    const script = `const c = ${JSON.stringify(lines.slice(0, 100))}.repeat(10000); for (let i = 0; i < 200; i++) require('fs').writeSync(1, c); console.log('the end')`;
    const heapBefore = process.memoryUsage().heapUsed;
    const cpuBefore = process.cpuUsage();
    let notes = 0;
    const logSink = (line: string): void =>
      void (notes += /^\[\d+ bytes of output left out\]$/.test(line) ? 1 : 0);
    const child = await run(script.replace("require('fs').writeSync(1, c)", writeAll), { logSink });
    await child.exited;
    const cpu = process.cpuUsage(cpuBefore);
    expect(child.stdoutTail(1)).toEqual(['the end']);
    expect(child.stdoutTail().length).toBeLessThanOrEqual(200);
    expect(notes).toBeGreaterThan(0);
    expect((cpu.user + cpu.system) / 1e6).toBeLessThan(4);
    expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(60 * 2 ** 20);
  });

  it('has its lines in rotated files of bounded size', async () => {
    const logFolder = path.join(folder, 'logs');
    const child = await run(`for (let i = 0; i < 5; i++) console.log('line', i)`, {
      logFolder,
      label: 'a/b#0',
    });
    await child.exited;
    expect(readdirSync(logFolder)).toEqual(['a_b#0.log']);
    expect(readFileSync(path.join(logFolder, 'a_b#0.log'), 'utf8')).toBe(
      'line 0\nline 1\nline 2\nline 3\nline 4\n',
    );
    expect(statSync(path.join(logFolder, 'a_b#0.log')).size).toBe(35);
  });

  it('that ignores SIGTERM is killed after the grace', async () => {
    const child = await run(
      `process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)`,
    );
    while (child.stdoutTail().length === 0) await delay(5);
    expect(await child.stop({ graceMs: 100 })).toEqual({ exitCode: null, signal: 'SIGKILL' });
  });

  it.runIf(process.platform === 'linux')(
    'is killed with all it started: children, their setsid children, and orphans of its own',
    async () => {
      const script = `
      const { spawn } = require('child_process');
      const sleeper = (options) => spawn('/bin/sleep', ['1000'], { stdio: 'ignore', ...options }).pid;
      const middle = spawn('/bin/sh', ['-c', 'sleep 1000 & echo $!'], { detached: true });
      middle.stdout.once('data', (orphan) => console.log(JSON.stringify([sleeper({}), sleeper({ detached: true }), Number(orphan)])));
      setInterval(() => {}, 1000);`;
      const child = await run(script);
      while (child.stdoutTail().length === 0) await delay(5);
      const pids = JSON.parse(child.stdoutTail()[0] ?? '[]') as number[];
      expect(pids.map(isAlive)).toEqual([true, true, true]);
      await child.kill();
      expect(pids.filter(isAlive)).toEqual([]);
    },
  );

  it.runIf(process.platform === 'linux')('is never taken for another one that has its pid now', async () => {
    await using bystander = await run(`setInterval(() => {}, 1000)`);
    const impostor = {
      pid: bystander.pid,
      startTicks: (bystander.identity.startTicks ?? 0) - 1,
      marker: childMarker(owner, 9999),
    };
    expect(await killTree(impostor)).toBe(0);
    expect(isAlive(bystander.pid)).toBe(true);
  });
});

describe('an owner marker', () => {
  it('names this engine as living, and a pid with other start ticks as dead', () => {
    const parsed = parseMarker(childMarker(owner, 12));
    if (!parsed) throw new Error('own marker not understood');
    expect(parsed.pid).toBe(process.pid);
    expect(isOwnerDead(parsed)).toBe(false);
    expect(isOwnerDead({ ...parsed, startTicks: parsed.startTicks + 1 })).toBe(true);
  });

  it('of another boot or container is never judged dead', () => {
    const parsed = parseMarker(owner);
    if (!parsed) throw new Error('own marker not understood');
    expect(isOwnerDead({ ...parsed, startTicks: 1, bootId: 'abc' })).toBe(false);
    expect(isOwnerDead({ ...parsed, startTicks: 1, pidNamespace: '1' })).toBe(false);
  });

  it('is only read from text of exactly its form', () => {
    for (const text of ['', 'ac1', `${owner}x`, `x${owner}`, owner.replace('ac1', 'ac2')])
      expect(parseMarker(text)).toBeUndefined();
  });
});

const writeAll = `{ let at = 0; while (at < c.length) { try { at += require('fs').writeSync(1, c.slice(at)); } catch (e) { if (e.code !== 'EAGAIN') throw e; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); } } }`;
