// The engine's side of the reaper: started once, told of every child, started again should somebody end it.
import { spawn, type ChildProcess } from 'node:child_process';
import type { Clock } from '../base/clock.ts';
import { childEnvironment } from './child-environment.ts';
import { entryBeside } from './entry-path.ts';
import type { ProcessIdentity } from './kill-tree.ts';
import { encodeReaperMessage, type ReaperMessage } from './reaper-protocol.ts';

const restartDelayMs = 1_000;

export interface ReaperOptions {
  readonly ownerMarker: string;
  readonly clock: Clock;
  /** Path of reaper-main; default: beside the running file. */
  readonly entry?: string | undefined;
  /** Default `process.execPath`; in Electron it then runs as plain Node. */
  readonly nodeCommand?: string | undefined;
}

export interface Reaper extends AsyncDisposable {
  /** Undefined while it is being started again. */
  readonly pid: number | undefined;
  started(identity: ProcessIdentity): void;
  ended(pid: number): void;
}

/** Does not wait for it to be up: what is told meanwhile lies in the pipe. */
export function startReaper(options: ReaperOptions): Reaper {
  const running = new Map<number, ProcessIdentity>();
  let child: ChildProcess | undefined;
  let restart: Disposable | undefined;
  let isDisposed = false;
  const tell = (message: ReaperMessage): void => void child?.stdin?.write(encodeReaperMessage(message));
  const begin = (): void => {
    child = spawnReaper(options);
    child.once('exit', () => {
      child = undefined;
      if (!isDisposed) restart = options.clock.after(restartDelayMs, begin);
    });
    tell({ kind: 'owner', marker: options.ownerMarker });
    for (const identity of running.values()) tell({ kind: 'started', identity });
  };
  begin();
  return {
    get pid() {
      return child?.pid;
    },
    started(identity) {
      running.set(identity.pid, identity);
      tell({ kind: 'started', identity });
    },
    ended(pid) {
      running.delete(pid);
      tell({ kind: 'ended', pid });
    },
    /** Ends the pipe; the reaper sweeps once more on its own and is not waited for. */
    [Symbol.asyncDispose]: () => {
      isDisposed = true;
      restart?.[Symbol.dispose]();
      child?.stdin?.end();
      return Promise.resolve();
    },
  };
}

function spawnReaper(options: ReaperOptions): ChildProcess {
  const entry = options.entry ?? entryBeside(import.meta.url, 'reaper-main');
  const child = spawn(options.nodeCommand ?? process.execPath, [entry], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: childEnvironment({ inherited: process.env, added: { ELECTRON_RUN_AS_NODE: '1' } }),
    detached: true,
    windowsHide: true,
  });
  child.on('error', () => {}); // without a reaper the other layers hold; `exit` or nothing follows
  child.stdin?.on('error', () => {});
  child.unref();
  return child;
}
