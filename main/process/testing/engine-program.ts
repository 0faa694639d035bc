// An engine for tests: starts one host per state named in its arguments, prints the pids that must not outlive it,
// and waits to be killed. `no-pdeathsig` leaves the parent-death signal out, `no-reaper` the reaper.
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../base/clock.ts';
import { createProcessRegistry } from '../process-registry.ts';

const flags = new Set(process.argv.slice(2));
const registry = await createProcessRegistry({
  clock: systemClock,
  ...(flags.has('no-reaper') && { reaperEntry: null }),
});
const pids: Record<string, number> = {};
const states = ['idle', 'busy', 'stopped', 'grandchild', 'setsid_grandchild'].filter((state) =>
  flags.has(state),
);
await Promise.all(states.map(start));
process.stdout.write(`${JSON.stringify({ owner: registry.ownerMarker, pids })}\n`);
setInterval(() => {}, 1_000);

async function start(state: string): Promise<void> {
  const host = await registry.startHost({
    command: process.execPath,
    args: [fileURLToPath(new URL('./host-program.ts', import.meta.url))],
    cwd: process.cwd(),
    label: state,
    parentDeathSignal: !flags.has('no-pdeathsig'),
  });
  pids[state] = host.process.pid;
  const call = (method: string): Promise<unknown> => host.connection.call(method, {}, { timeoutMs: 10_000 });
  if (state === 'busy') await call('busy');
  if (state.endsWith('grandchild')) pids[`${state} of it`] = Number(await call(state));
  if (state === 'stopped') process.kill(host.process.pid, 'SIGSTOP');
}
