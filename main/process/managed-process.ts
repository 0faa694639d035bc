// One child process: spawned without a shell as leader of its own group, its output captured, its end awaited, its
// tree killed. Its fd 0 is a lifeline: a pipe that is never written to and ends when this engine does.
import { spawn, type ChildProcess } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import type { Clock } from '../base/clock.ts';
import { StudioError, messageOf } from '../base/errors.ts';
import { childEnvironment } from './child-environment.ts';
import { killTree, signalGroup, type ProcessIdentity } from './kill-tree.ts';
import { OutputCapture } from './output-capture.ts';
import { ownerVariable } from './owner.ts';
import { withParentDeathSignal } from './parent-death.ts';
import type { ExitInfo, ManagedProcess, OutputStream, SpawnOptions, StopOptions } from './ports.ts';
import { residentBytes, startTicksOf } from './process-table.ts';
import { RotatedFile, fileNameOf } from './rotated-file.ts';

export const defaultGraceMs = 1_500;
const defaultNiceness = 10;
/** After the process ended, its pipes may be held open by something it started; the last lines come well before. */
const drainAfterExitMs = 200;
/** A second kill for what was being started while the first looked. */
const secondSweepMs = 50;
const longestHandshake = 4 * 2 ** 20;

export interface SpawnPorts {
  readonly clock: Clock;
  /** Value of AGENTCANVAS_OWNER for this child. */
  readonly marker: string;
  readonly redact?: ((line: string) => string) | undefined;
}

/** Rejects with `spawn_failed`. Main thread only: the parent-death signal is bound to the spawning thread. */
export async function spawnManaged(options: SpawnOptions, ports: SpawnPorts): Promise<SpawnedProcess> {
  if (!isMainThread) throw new StudioError('internal', 'processes are spawned from the main thread only');
  await checkStartable(options);
  const wrapped =
    options.parentDeathSignal === false
      ? options
      : await withParentDeathSignal(options.command, options.args);
  const child = spawn(wrapped.command, [...wrapped.args], {
    cwd: options.cwd,
    env: childEnvironment({
      inherited: process.env,
      secretNames: options.secretNames,
      added: { ...runAsNode(options.command), ...options.env, [ownerVariable]: ports.marker },
    }),
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
    windowsHide: true,
  });
  const pid = await spawnedPid(child, options);
  lowerPriority(pid, options.niceness ?? defaultNiceness);
  return new SpawnedProcess(
    child,
    { pid, startTicks: startTicksOf(pid), marker: ports.marker },
    options,
    ports,
  );
}

/** In Electron the own program is plain Node only when asked to be. */
function runAsNode(command: string): Readonly<Record<string, string>> {
  return command === process.execPath ? { ELECTRON_RUN_AS_NODE: '1' } : {};
}

interface ChildPipes {
  readonly lifeline: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly handshake: Readable;
}

function pipesOf(child: ChildProcess): ChildPipes {
  const { stdin: lifeline, stdout, stderr } = child;
  const handshake = child.stdio[3];
  if (!lifeline || !stdout || !stderr || !(handshake instanceof Readable))
    throw new StudioError('internal', 'a child without its pipes');
  return { lifeline, stdout, stderr, handshake };
}

export class SpawnedProcess implements ManagedProcess {
  readonly pid: number;
  readonly label: string;
  readonly marker: string;
  readonly identity: ProcessIdentity;
  readonly exited: Promise<ExitInfo>;
  readonly handshakeLine: Promise<string>;
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #stdout: OutputCapture;
  readonly #stderr: OutputCapture;
  #exitInfo: ExitInfo | undefined;
  #ending: Promise<ExitInfo> | undefined;

  constructor(
    child: ChildProcess,
    identity: ProcessIdentity,
    options: SpawnOptions,
    { clock, redact }: SpawnPorts,
  ) {
    this.#child = child;
    this.#clock = clock;
    this.pid = identity.pid;
    this.label = options.label;
    this.marker = identity.marker;
    this.identity = identity;
    const file = options.logFolder
      ? new RotatedFile(path.join(options.logFolder, `${fileNameOf(options.label)}.log`))
      : undefined;
    const onLine = (line: string, stream: OutputStream): void => {
      file?.append(line);
      options.logSink?.(line, stream);
    };
    const pipes = pipesOf(child);
    this.#stdout = new OutputCapture(pipes.stdout, { clock, redact, stream: 'stdout', onLine });
    this.#stderr = new OutputCapture(pipes.stderr, { clock, redact, stream: 'stderr', onLine });
    pipes.lifeline.on('error', ignorePipeError);
    this.handshakeLine = firstLine(pipes.handshake, options.label);
    this.handshakeLine.catch(ignorePipeError);
    this.exited = this.#awaitExit(file);
  }

  get exitInfo(): ExitInfo | undefined {
    return this.#exitInfo;
  }

  stderrTail(count?: number): readonly string[] {
    return this.#stderr.tail(count);
  }

  stdoutTail(count?: number): readonly string[] {
    return this.#stdout.tail(count);
  }

  rssBytes(): Promise<number | null> {
    return this.#exitInfo ? Promise.resolve(null) : residentBytes(this.pid);
  }

  stop(options: StopOptions = {}): Promise<ExitInfo> {
    this.#ending ??= this.#terminate(options.graceMs ?? defaultGraceMs);
    return this.#ending;
  }

  kill(): Promise<ExitInfo> {
    this.#ending = this.#killAll();
    return this.#ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #terminate(graceMs: number): Promise<ExitInfo> {
    if (!this.#exitInfo && signalGroup(this.identity, 'SIGTERM')) {
      const timer = Promise.withResolvers<void>();
      using _timer = this.#clock.after(graceMs, timer.resolve);
      await Promise.race([this.exited, timer.promise]);
    }
    return this.#killAll();
  }

  async #killAll(): Promise<ExitInfo> {
    // Windows has no identity to check: once it ended, its pid may be somebody else's.
    if (this.#exitInfo && process.platform === 'win32') return this.exited;
    const found = await killTree(this.identity);
    if (found > 0) {
      await new Promise<void>((resolve) => this.#clock.after(secondSweepMs, resolve));
      await killTree(this.identity);
    }
    return this.exited;
  }

  async #awaitExit(file: RotatedFile | undefined): Promise<ExitInfo> {
    const child = this.#child;
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const exit = await new Promise<ExitInfo>((resolve) => {
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    });
    const drained = Promise.withResolvers<void>();
    using _timer = this.#clock.after(drainAfterExitMs, drained.resolve);
    await Promise.race([closed, drained.promise]);
    for (const pipe of child.stdio) pipe?.destroy();
    await file?.[Symbol.asyncDispose]();
    this.#exitInfo = exit;
    return exit;
  }
}

/** Where a wrapper or the system would only say "exit code 127", this says what is missing. */
async function checkStartable({ command, cwd, label }: SpawnOptions): Promise<void> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new StudioError('spawn_failed', `cannot start ${label}: ${why}`, { cause });
  };
  if (!path.isAbsolute(command)) refuse(`"${command}" is not an absolute path`);
  await access(command, constants.X_OK).catch((error) =>
    refuse(`${command} does not exist or may not be executed`, error),
  );
  const folder = await stat(cwd).catch(() => undefined);
  if (!folder?.isDirectory()) refuse(`its folder ${cwd} does not exist`);
}

function spawnedPid(child: ChildProcess, options: SpawnOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(
        new StudioError('spawn_failed', `cannot start ${options.label}: ${messageOf(error)}`, {
          cause: error,
        }),
      );
    });
    if (child.pid !== undefined) {
      child.on('error', ignorePipeError);
      resolve(child.pid);
    }
  });
}

function lowerPriority(pid: number, niceness: number): void {
  try {
    os.setPriority(pid, niceness);
  } catch {
    // It ended already, or the system forbids it: priority is a courtesy to the interface, nothing depends on it.
  }
}

/** The handshake: one line, then the pipe ends. */
function firstLine(pipe: Readable, label: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const decoder = new TextDecoder();
    const fail = (why: string): void => reject(new StudioError('handshake_failed', `${label} ${why}`));
    pipe.on('data', (chunk: Buffer) => {
      text += decoder.decode(chunk, { stream: true });
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
      else if (text.length > longestHandshake) fail('wrote something else than a handshake to fd 3');
    });
    pipe.on('error', ignorePipeError);
    pipe.on('close', () => fail('closed its handshake pipe without a handshake'));
  });
}

/** A pipe to a process that ended reports errors; that end is reported by `exited`. */
function ignorePipeError(): void {}
