// The reaper as its engine sees it: there without being waited for, and back when somebody ends it.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { createOwnerMarker, childMarker } from './owner.ts';
import { spawnManaged } from './managed-process.ts';
import { startReaper, type Reaper } from './reaper.ts';

describe.runIf(process.platform === 'linux')('a reaper', () => {
  it('does not keep an engine alive that has nothing left to do', async () => {
    const registryModule = new URL('./process-registry.ts', import.meta.url).href;
    const clockModule = new URL('../base/clock.ts', import.meta.url).href;
    const script = `
      const { createProcessRegistry } = await import(${JSON.stringify(registryModule)});
      const { systemClock } = await import(${JSON.stringify(clockModule)});
      await createProcessRegistry({ clock: systemClock });
      console.log('done');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 15_000,
    });
    expect(stdout).toBe('done\n');
  });

  it('that was killed is started again and still knows what to kill, also when asked to end politely', async () => {
    const ownerMarker = createOwnerMarker();
    const reaper = startReaper({ ownerMarker, clock: systemClock });
    const child = await spawnManaged(
      { command: '/bin/sleep', args: ['1000'], cwd: '/', label: 'sleeper', parentDeathSignal: false },
      { clock: systemClock, marker: childMarker(ownerMarker, 1) },
    );
    reaper.started(child.identity);
    const first = reaper.pid ?? 0;
    process.kill(first, 'SIGKILL');
    while (reaper.pid === undefined || reaper.pid === first) await delay(20);
    const second = await whenUp(reaper);
    process.kill(second, 'SIGTERM');
    await delay(200);
    expect(reaper.pid).toBe(second);
    await reaper[Symbol.asyncDispose]();
    expect(await child.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
  });
});

/** Once the program is up; in its first moments Node itself would end on a SIGTERM. */
async function whenUp(reaper: Reaper): Promise<number> {
  for (;;) {
    const pid = reaper.pid;
    if (pid !== undefined && readFileSync(`/proc/${pid}/comm`, 'latin1').trim() === 'ac-reaper') return pid;
    await delay(20);
  }
}
