// Nothing an engine started outlives it: real engines killed with SIGKILL, their children in every awkward state.
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { findSetpriv } from './parent-death.ts';
import { createProcessRegistry } from './process-registry.ts';
import { isRunning, readEntry } from './process-table.ts';

const program = fileURLToPath(new URL('./testing/engine-program.ts', import.meta.url));
const allStates = ['idle', 'busy', 'stopped', 'grandchild', 'setsid_grandchild'];
const hasSetpriv = (await findSetpriv()) !== null;
const engines: ChildProcess[] = [];

interface Report {
  readonly owner: string;
  readonly pids: Readonly<Record<string, number>>;
}

async function startEngine(flags: readonly string[]): Promise<{ engine: ChildProcess; report: Report }> {
  const engine = spawn(process.execPath, [program, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  engines.push(engine);
  for await (const line of createInterface({ input: engine.stdout }))
    return { engine, report: JSON.parse(line) as Report };
  throw new Error('the engine program ended early');
}

/** Names of those still running 2 s after the kill; fewer seconds when all are gone. */
async function survivors(pids: Readonly<Record<string, number>>): Promise<readonly string[]> {
  const alive = (): string[] =>
    Object.keys(pids).filter((name) => {
      const entry = readEntry(pids[name] ?? 0);
      return entry !== undefined && isRunning(entry);
    });
  for (let waited = 0; waited < 20 && alive().length > 0; waited++) await delay(100);
  return alive();
}

afterEach(() => {
  for (const engine of engines.splice(0)) engine.kill('SIGKILL');
});

describe.runIf(process.platform === 'linux')('an engine killed with SIGKILL', () => {
  it('leaves no child, in any state, and no grandchild that called setsid', async () => {
    const { engine, report } = await startEngine(allStates);
    expect(Object.keys(report.pids)).toHaveLength(7);
    engine.kill('SIGKILL');
    expect(await survivors(report.pids)).toEqual([]);
  });

  it('leaves nothing where the parent-death signal is missing: the reaper is enough', async () => {
    const { engine, report } = await startEngine([...allStates, 'no-pdeathsig']);
    engine.kill('SIGKILL');
    expect(await survivors(report.pids)).toEqual([]);
  });

  it.runIf(hasSetpriv)(
    'leaves no child where the reaper is missing: the parent-death signal is enough',
    async () => {
      const { engine, report } = await startEngine(['idle', 'busy', 'stopped', 'no-reaper']);
      engine.kill('SIGKILL');
      expect(await survivors(report.pids)).toEqual([]);
    },
  );

  // An engine of another test that starts in between sweeps too; then there is nothing left to show, and it is tried again.
  it('has what it left swept by the next engine, if all else was missing', { retry: 4 }, async () => {
    const { engine, report } = await startEngine(['setsid_grandchild', 'no-reaper', 'no-pdeathsig']);
    engine.kill('SIGKILL');
    await delay(300);
    const grandchild = report.pids['setsid_grandchild of it'] ?? 0;
    expect(readEntry(grandchild)?.state).toBe('S');
    await using _next = await createProcessRegistry({ clock: systemClock, reaperEntry: null });
    expect(await survivors({ grandchild })).toEqual([]);
  });
});
