// The Ray spawner where there is no Ray: what it says, and replicas as the driver tells of them. Whole runs on Ray are in
// main/ray-run.test.ts.
import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createFakeClock } from '../../base/fake-clock.ts';
import { spawnerSettings } from '../../contract/spawners.ts';
import { createProcessRegistry } from '../../process/process-registry.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import { pythonFolder, pythonInterpreter } from '../testing/test-registry.ts';
import { RayDriver } from './ray-driver.ts';
import { RayReplica } from './ray-replica.ts';

const python = pythonInterpreter();

function lacksRay(): boolean {
  try {
    execFileSync(python, ['-c', 'import importlib.util as u, sys; sys.exit(u.find_spec("ray") is not None)']);
    return true;
  } catch {
    return false;
  }
}

let processes: ProcessRegistry | undefined;
afterEach(async () => {
  await processes?.[Symbol.asyncDispose]();
  processes = undefined;
});

describe.skipIf(python === '' || !lacksRay())('an interpreter without ray', () => {
  it('is named, with what to install', async () => {
    processes = await createProcessRegistry({ clock: systemClock });
    const { ray } = spawnerSettings.parse({});
    const opening = RayDriver.open({
      processes,
      clock: systemClock,
      pythonFolder,
      python,
      ray,
      onLine: () => undefined,
    });
    await expect(opening).rejects.toMatchObject({
      code: 'spawn_failed',
      message: expect.stringMatching(
        /a local Ray could not be started: .* cannot import ray .* -m pip install ray/,
      ) as string,
    });
    expect(processes.list()).toEqual([]);
  }, 30_000);
});

function replica(signal: (graceful: boolean) => Promise<void>): { made: RayReplica; lines: string[] } {
  const lines: string[] = [];
  const made = new RayReplica({
    spawn: { command: '/p', args: [], cwd: '/', label: 'maze#0', logSink: (line) => lines.push(line) },
    marker: 'm',
    clock: createFakeClock(),
    redact: (text) => text.replaceAll('hunter2', '[redacted]'),
    signal,
  });
  return { made, lines };
}

describe('a replica on a node', () => {
  it('has its pid from its handshake, and its end as the process told it', async () => {
    const { made } = replica(() => Promise.resolve());
    made.take({ kind: 'handshake', id: 'r', line: '{"pid": 77, "listen": "tcp:10.0.0.2:9"}' });
    expect([made.pid, await made.handshakeLine]).toEqual([77, '{"pid": 77, "listen": "tcp:10.0.0.2:9"}']);
    made.take({ kind: 'exit', id: 'r', code: -11, reason: '' });
    made.take({ kind: 'exit', id: 'r', code: 0, reason: '' });
    expect(await made.exited).toEqual({ exitCode: null, signal: 'SIGSEGV' });
  });

  it('that goes with its node says why, and its start fails', async () => {
    const { made } = replica(() => Promise.resolve());
    made.take({ kind: 'exit', id: 'r', code: null, reason: 'The node died' });
    expect(await made.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
    expect(made.stderrTail()).toEqual(['Ray: The node died']);
    await expect(made.handshakeLine).rejects.toMatchObject({ code: 'handshake_failed' });
  });

  it('prints neither secrets nor control characters', () => {
    const { made, lines } = replica(() => Promise.resolve());
    made.take({ kind: 'log', id: 'r', stream: 'stdout', line: '\u001b[31mkey hunter2\u0007' });
    expect(lines).toEqual(['key [redacted]']);
    expect(made.stdoutTail(1)).toEqual(lines);
  });

  it('ends when the driver can no longer be asked', async () => {
    const { made } = replica(() => Promise.reject(new Error('gone')));
    expect(await made.kill()).toEqual({ exitCode: null, signal: 'SIGKILL' });
  });
});
