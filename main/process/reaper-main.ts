// The reaper: a small program that outlives the engine by a moment. It holds one pipe from the engine; when that
// ends it kills what was registered and sweeps by owner marker twice, so that nothing the engine started stays.
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { killTree, sweepOwner, type ProcessIdentity } from './kill-tree.ts';
import { decodeReaperMessage } from './reaper-protocol.ts';

/** The second sweep catches what was being forked during the first. */
const betweenSweepsMs = 300;

// Ctrl-C in a terminal and a closing session reach every process; only the end of the pipe counts here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

// Who lists processes sees what it is, and that it is up.
process.title = 'ac-reaper';

const running = new Map<number, ProcessIdentity>();
let ownerMarker: string | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  const message = decodeReaperMessage(line);
  if (message?.kind === 'owner') ownerMarker = message.marker;
  else if (message?.kind === 'started') running.set(message.identity.pid, message.identity);
  else if (message?.kind === 'ended') running.delete(message.pid);
}
await Promise.all([...running.values()].map((identity) => killTree(identity)));
if (ownerMarker !== undefined) {
  await sweepOwner(ownerMarker);
  await delay(betweenSweepsMs);
  await sweepOwner(ownerMarker);
}
