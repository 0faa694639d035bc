// Real hosts in real processes: start, failure to start, death, stop.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import type { HostProcess, ProcessRegistry, StageReport, StartHostOptions } from './ports.ts';
import { createProcessRegistry } from './process-registry.ts';
import { isRunning, readEntry } from './process-table.ts';

const program = fileURLToPath(new URL('./testing/host-program.ts', import.meta.url));
const quick = { timeoutMs: 10_000 };
let socketParent: string;
let registry: ProcessRegistry;

beforeAll(async () => {
  socketParent = mkdtempSync(path.join(tmpdir(), 'acp-'));
  registry = await createProcessRegistry({ clock: systemClock, reaperEntry: null, socketParent });
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  if (readdirSync(socketParent).length > 0) throw new Error('sockets were left behind');
  rmSync(socketParent, { recursive: true });
});

function start(mode: string, options: Partial<StartHostOptions> = {}): Promise<HostProcess> {
  return registry.startHost({
    command: process.execPath,
    args: [program, mode],
    cwd: socketParent,
    label: `test ${mode}`,
    ...options,
  });
}

async function errorOf(work: Promise<unknown>): Promise<StudioError> {
  const error: unknown = await work.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof StudioError) return error;
  throw error;
}

function isAlive(pid: number): boolean {
  const entry = readEntry(pid);
  return entry !== undefined && isRunning(entry);
}

describe('a host', () => {
  it.each(['unix', 'tcp'] as const)(
    'starts over %s, answers, and exits with 0 when asked to',
    async (transport) => {
      const stages: string[] = [];
      const host = await start('serve', {
        transport,
        onStage: ({ stage }: StageReport) => stages.push(stage),
      });
      expect(await host.connection.call('echo', { a: [1, 'ü'] }, quick)).toEqual({ a: [1, 'ü'] });
      expect(stages).toEqual(['starting', 'waiting_for_handshake', 'connecting', 'connected']);
      expect(await host.stop()).toEqual({ exitCode: 0, signal: null });
      expect(host.connection.isClosed).toBe(true);
    },
  );

  it('finds neither nonce nor engine settings in its environment, and an empty standard input', async () => {
    await using host = await start('serve', { env: { CUDA_VISIBLE_DEVICES: '1' }, secretNames: ['HOME'] });
    const environment = (await host.connection.call('environment', {}, quick)) as Record<string, string>;
    expect(
      Object.keys(environment).filter((name) => /^(NODE_|npm_|HOME$|AGENTCANVAS_(NONCE|LISTEN))/.test(name)),
    ).toEqual([]);
    expect(environment).toMatchObject({
      CUDA_VISIBLE_DEVICES: '1',
      PYTHONUTF8: '1',
      AGENTCANVAS_OWNER: host.process.marker,
    });
    expect(environment['NO_PROXY']).toMatch(/127\.0\.0\.1,localhost,::1$/);
    expect(await host.connection.call('stdin', {}, quick)).toBe('');
  });

  it('runs from folders with spaces, quotes, CJK and emoji in their names', async () => {
    const cwd = path.join(socketParent, `o'neil "nav" 导航 🤖`);
    mkdirSync(cwd);
    await using host = await start('serve', { cwd });
    expect(await host.connection.call('echo', cwd, quick)).toBe(cwd);
    rmSync(cwd, { recursive: true });
  });

  it('reports its resident memory by heartbeat and by the system', async () => {
    await using host = await start('serve');
    for (let waited = 0; host.heartbeatRssBytes === null && waited < 200; waited++) await delay(50);
    expect(host.heartbeatRssBytes).toBeGreaterThan(10 * 2 ** 20);
    const seen = await host.process.rssBytes();
    expect(seen ?? Infinity).toBeGreaterThan(10 * 2 ** 20);
  });

  it('that crashes rejects its calls at once and is reported with signal and last stderr line', async () => {
    const host = await start('serve');
    await host.connection.call('crash', {}, quick);
    expect((await errorOf(host.connection.call('echo', 1, quick))).code).toMatch(
      /connection_closed|process_died/,
    );
    expect(await host.death()).toMatchObject({
      code: 'process_died',
      message: 'test serve was killed by SIGSEGV: segment lost',
      details: { signal: 'SIGSEGV', exitCode: null, stderrTail: ['segment lost'] },
    });
    expect(registry.list()).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('that crashes leaves no grandchildren', async () => {
    const host = await start('serve');
    const grandchild = Number(await host.connection.call('setsid_grandchild', {}, quick));
    expect(isAlive(grandchild)).toBe(true);
    await host.connection.call('crash', {}, quick);
    while (isAlive(grandchild)) await delay(20);
  });

  it('in a busy loop is stopped all the same, with its grandchildren', async () => {
    const host = await start('serve');
    const grandchild = Number(await host.connection.call('setsid_grandchild', {}, quick));
    expect(isAlive(grandchild)).toBe(true);
    await host.connection.call('busy', {}, quick);
    expect(await host.stop({ shutdownTimeoutMs: 200, graceMs: 5000 })).toMatchObject({ signal: 'SIGTERM' });
    expect([isAlive(host.process.pid), isAlive(grandchild)]).toEqual([false, false]);
  });

  it('that is stopped by SIGSTOP is killed after the grace', async () => {
    const host = await start('serve');
    process.kill(host.process.pid, 'SIGSTOP');
    expect(await host.stop({ shutdownTimeoutMs: 100, graceMs: 100 })).toMatchObject({ signal: 'SIGKILL' });
  });

  it('is ended when its connection ends', async () => {
    const host = await start('serve');
    host.connection.close();
    expect((await host.process.exited).signal).toBe('SIGKILL');
  });
});

describe('a host that does not start', () => {
  it('is reported with exit code and its last words', async () => {
    const error = await errorOf(start('exit'));
    expect(error).toMatchObject({
      code: 'handshake_failed',
      message: 'test exit ended with exit code 7: no display found',
      details: { exitCode: 7, stderrTail: ['loading the scene', 'no display found'] },
    });
  });

  it('in time is killed', async () => {
    const error = await errorOf(start('silent', { startTimeoutMs: 300 }));
    expect(error).toMatchObject({
      code: 'timeout',
      message: 'test silent did not start within 0.3 s; see its log, or raise its start timeout',
    });
    expect(registry.list()).toEqual([]);
  });

  it('because somebody stopped it leaves nothing', async () => {
    const controller = new AbortController();
    const starting = start('silent', { signal: controller.signal });
    setTimeout(() => controller.abort(), 150);
    expect((await errorOf(starting)).code).toBe('aborted');
    expect(registry.list()).toEqual([]);
  });

  it.each([
    ['a program that is not there', { command: '/nowhere/python' }, /does not exist or may not be executed/],
    ['a relative program', { command: 'node' }, /not an absolute path/],
    ['a folder that is not there', { cwd: '/nowhere' }, /its folder \/nowhere does not exist/],
  ])('because of %s says so', async (_name, options, message) => {
    const error = await errorOf(start('serve', options));
    expect(error.code).toBe('spawn_failed');
    expect(error.message).toMatch(message);
  });

  it.each([
    ['writes something else', 'Traceback', /no handshake to fd 3 but: Traceback/],
    ['speaks another protocol', '{"protocol": 2}', /speaks protocol 2, this app 1/],
    [
      'cannot prove who it is',
      '{"protocol":1,"pid":1,"listen":"unix:/x","proof":"00"}',
      /its proof is wrong/,
    ],
  ])('because it %s is refused', async (_name, line, message) => {
    const script = `require('fs').writeSync(3, ${JSON.stringify(`${line}\n`)}); setInterval(() => {}, 1000)`;
    const error = await errorOf(start('serve', { args: ['-e', script] }));
    expect(error.code).toBe('handshake_failed');
    expect(error.message).toMatch(message);
  });
});

describe('all hosts', () => {
  it('started after the end are refused', async () => {
    const own = await createProcessRegistry({ clock: systemClock, reaperEntry: null, socketParent });
    await own[Symbol.asyncDispose]();
    const options = { command: process.execPath, args: [program], cwd: socketParent, label: 'late' };
    expect(await errorOf(own.startHost(options))).toMatchObject({
      code: 'aborted',
      message: 'late was not started: the app is closing',
    });
  });

  it('are stopped in parallel under one deadline, whatever they do', async () => {
    await using own = await createProcessRegistry({ clock: systemClock, reaperEntry: null, socketParent });
    const hosts = await Promise.all(
      [1, 2, 3].map((number) =>
        own.startHost({
          command: process.execPath,
          args: [program],
          cwd: socketParent,
          label: `host ${number}`,
        }),
      ),
    );
    await hosts[0]?.connection.call('busy', {}, quick);
    process.kill(hosts[1]?.process.pid ?? 0, 'SIGSTOP');
    const startMs = performance.now();
    await own.stopAll({ deadlineMs: 1500 });
    expect(performance.now() - startMs).toBeLessThan(3000);
    expect(own.list()).toEqual([]);
    expect(hosts.map((host) => isAlive(host.process.pid))).toEqual([false, false, false]);
  });
});
