// Runs hooks through /bin/sh (POSIX). The event goes in as JSON, the answer comes out as JSON; a hook that fails, is
// late or talks nonsense changes nothing. Each hook has a process group of its own, killed when its time is over.
import { spawn, type ChildProcess } from 'node:child_process';
import { systemClock, type Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { silentLogger, type Logger } from '../base/logger.ts';
import type { GraphHook } from '../contract/graph.ts';
import { noEffect, parseHookReply, type HookReply, type HookRunner } from './hooks.ts';

export interface ShellHookOptions {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Working folder of the commands. Default: that of the engine. */
  readonly folder?: string;
  /** Default: the engine's without its own variables. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Called with each hook's process group, so that it can be watched over; disposed when it is gone. */
  readonly onSpawn?: (processGroup: number) => Disposable;
}

const replyLimitBytes = 1024 * 1024;
const ownVariables = /^(ELECTRON_|NODE_|npm_|AGENTCANVAS_)/i;

export const hooksSupported = process.platform !== 'win32';

export function createShellHookRunner(options: ShellHookOptions = {}): HookRunner {
  const logger = options.logger ?? silentLogger;
  return {
    async run(hook, event, signal) {
      if (signal.aborted || !hooksSupported) return noEffect;
      try {
        return await runCommand(hook, JSON.stringify(event), signal, options);
      } catch (thrown) {
        logger.warn('a hook failed and is ignored', { command: hook.command, reason: messageOf(thrown) });
        return noEffect;
      }
    },
  };
}

function runCommand(
  hook: GraphHook,
  input: string,
  signal: AbortSignal,
  options: ShellHookOptions,
): Promise<HookReply> {
  const child = spawn('/bin/sh', ['-c', hook.command], {
    cwd: options.folder,
    env: options.environment ?? withoutOwnVariables(process.env),
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const watch = child.pid === undefined ? undefined : options.onSpawn?.(child.pid);
  const clock = options.clock ?? systemClock;
  return new Promise<HookReply>((resolve, reject) => {
    const end = (finish: () => void): void => {
      timer[Symbol.dispose]();
      signal.removeEventListener('abort', onAbort);
      killGroup(child);
      watch?.[Symbol.dispose]();
      finish();
    };
    const timer = clock.after(hook.timeout_ms, () =>
      end(() => reject(new Error(`no answer within ${hook.timeout_ms} ms`))),
    );
    const onAbort = (): void => end(() => resolve(noEffect));
    signal.addEventListener('abort', onAbort, { once: true });
    collect(
      child,
      (output) => end(() => resolve(parseHookReply(output))),
      (reason) => end(() => reject(reason)),
    );
    child.stdin?.on('error', ignoreClosedInput);
    child.stdin?.end(input);
  });
}

function collect(child: ChildProcess, done: (output: string) => void, fail: (reason: Error) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > replyLimitBytes) fail(new Error('more than 1 MB of output'));
    else chunks.push(chunk);
  });
  child.once('error', fail);
  child.once('close', (code, signalName) => {
    if (code === 0) done(Buffer.concat(chunks).toString('utf8'));
    else fail(new Error(`ended with ${signalName ?? `exit code ${code}`}`));
  });
}

/** The group, so that what the shell started ends with it; a group that is gone already is fine. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code !== 'ESRCH' && code !== 'EPERM') throw thrown;
  }
}

function withoutOwnVariables(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ownVariables.test(name)));
}

/** A command that does not read its input closes it; that is its right. */
function ignoreClosedInput(): undefined {
  return undefined;
}
