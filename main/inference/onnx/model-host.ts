// One model file in a process of its own, for all nodes and workers. Started by the first call, stopped after some idle time, killed and
// replaced when it dies or does not answer; calls then fail with the reason and the next one meets a fresh process.
import path from 'node:path';
import { sleep, withDeadline } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError, toStudioError } from '../../base/errors.ts';
import type { HostProcess, ProcessRegistry } from '../../process/ports.ts';
import { decideRestart } from '../../process/restart-policy.ts';
import { isBackendLoss } from '../failure-rule.ts';
import type { ModelFacts } from './plan.ts';

export interface ModelHostPorts {
  readonly clock: Clock;
  readonly startHost: ProcessRegistry['startHost'];
  /** The program model-host-main. */
  readonly program: string;
  readonly idleMs?: number;
  readonly logFolder?: string;
}

export interface ModelChoice {
  readonly file: string;
  readonly provider: string;
  readonly threads: number;
}

interface Opened {
  readonly host: HostProcess;
  readonly facts: ModelFacts;
}

type State =
  | { readonly kind: 'absent' }
  | { readonly kind: 'opening'; readonly opened: Promise<Opened> }
  | { readonly kind: 'open'; readonly opened: Opened }
  | { readonly kind: 'stopped' };

const openMs = 600_000;
const defaultIdleMs = 60_000;
/** After too many losses in a row calls are refused for so long. */
const restMs = 30_000;

export class ModelHost implements AsyncDisposable {
  readonly #ports: ModelHostPorts;
  readonly #choice: ModelChoice;
  readonly #stop = new AbortController();
  #state: State = { kind: 'absent' };
  #generation = 0;
  #losses = 0;
  #restUntilMs = 0;
  #lastLoss: StudioError | undefined;
  #underWay = 0;
  #lastUseMs = 0;
  #idleTimer: Disposable | undefined;

  constructor(ports: ModelHostPorts, choice: ModelChoice) {
    this.#ports = ports;
    this.#choice = choice;
  }

  /** Changes when another process takes over: bindings of the former one are gone. */
  get generation(): number {
    return this.#generation;
  }

  get pid(): number | null {
    return this.#state.kind === 'open' ? this.#state.opened.host.process.pid : null;
  }

  /** Facts of the model; starts the process where there is none. */
  async facts(signal?: AbortSignal): Promise<ModelFacts> {
    return (await this.#opened(signal)).facts;
  }

  async call(
    method: string,
    params: unknown,
    limits: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<unknown> {
    this.#underWay++;
    try {
      const opened = this.#state.kind === 'open' ? this.#state.opened : await this.#opened(limits.signal);
      const answer = await this.#ask(opened, method, params, limits);
      // Loading is no proof of life: a model may die of every forward pass.
      if (method === 'infer') this.#losses = 0;
      return answer;
    } finally {
      this.#underWay--;
      this.#watchIdle();
    }
  }

  /** Ends the process now; the next call meets a fresh one. */
  async kill(
    reason = new StudioError('process_died', `${this.#label} was killed because it did not answer`),
  ): Promise<void> {
    if (this.#state.kind !== 'open') return;
    const { host } = this.#state.opened;
    this.#lose(host, reason);
    await host.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'stopped' };
    this.#idleTimer?.[Symbol.dispose]();
    this.#stop.abort(new StudioError('aborted', 'the models are given back'));
    if (state.kind === 'open') await state.opened.host.stop({ shutdownTimeoutMs: 1_000 });
    if (state.kind === 'opening')
      await state.opened.then(
        ({ host }) => host.kill(),
        () => undefined,
      );
  }

  get #label(): string {
    return `model ${path.basename(this.#choice.file)}`;
  }

  async #ask(
    { host }: Opened,
    method: string,
    params: unknown,
    limits: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<unknown> {
    try {
      return await host.connection.call(method, params, limits);
    } catch (thrown) {
      const error = toStudioError(thrown, 'remote_error');
      if (!isBackendLoss(error)) throw error;
      const reason = error.code === 'connection_closed' && host.process.exitInfo ? await host.death() : error;
      this.#lose(host, reason);
      void host.kill();
      throw reason;
    }
  }

  async #opened(signal: AbortSignal | undefined): Promise<Opened> {
    const { clock } = this.#ports;
    switch (this.#state.kind) {
      case 'open':
        return this.#state.opened;
      case 'stopped':
        throw new StudioError('aborted', 'the models are given back');
      case 'opening':
        break;
      case 'absent': {
        if (clock.monotonic() < this.#restUntilMs)
          throw this.#lastLoss ?? new StudioError('process_died', this.#label);
        const opened = this.#open();
        opened.catch(() => undefined);
        this.#state = { kind: 'opening', opened };
      }
    }
    return await withDeadline(this.#state.opened, {
      clock,
      timeoutMs: openMs + 120_000,
      signal,
      what: `loading ${this.#label}`,
    });
  }

  async #open(): Promise<Opened> {
    try {
      const opened = await this.#start();
      this.#state = { kind: 'open', opened };
      void opened.host.process.exited.then(async () => this.#lose(opened.host, await opened.host.death()));
      return opened;
    } catch (thrown) {
      const error = toStudioError(thrown, 'model_failed');
      if (this.#state.kind !== 'stopped') this.#state = { kind: 'absent' };
      if (isBackendLoss(error)) this.#countLoss(error);
      throw error;
    }
  }

  async #start(): Promise<Opened> {
    const { clock, startHost, program, logFolder } = this.#ports;
    const { signal } = this.#stop;
    const decision = this.#losses === 0 ? undefined : decideRestart(this.#losses);
    if (decision?.action === 'restart') await sleep(clock, decision.delayMs, signal);
    const host = await startHost({
      command: process.execPath,
      args: [program],
      cwd: path.dirname(this.#choice.file),
      label: this.#label,
      signal,
      env: process.versions['electron'] ? { ELECTRON_RUN_AS_NODE: '1' } : {},
      ...(logFolder !== undefined && { logFolder }),
    });
    try {
      const facts = (await host.connection.call('open', this.#choice, {
        timeoutMs: openMs,
        signal,
      })) as ModelFacts;
      return { host, facts };
    } catch (error) {
      await host.kill();
      throw error;
    }
  }

  #lose(host: HostProcess, reason: StudioError): void {
    if (this.#state.kind !== 'open' || this.#state.opened.host !== host) return;
    this.#state = { kind: 'absent' };
    this.#generation++;
    this.#countLoss(reason);
  }

  #countLoss(reason: StudioError): void {
    this.#losses++;
    if (decideRestart(this.#losses).action === 'restart') return;
    this.#restUntilMs = this.#ports.clock.monotonic() + restMs;
    this.#losses = 0;
    this.#lastLoss = new StudioError(
      'process_died',
      `${this.#label} was lost several times without answering and rests for ${restMs / 1000} s: ${reason.message}`,
      { cause: reason, details: reason.details },
    );
  }

  /** One timer at a time: a busy model does not arm one per call. */
  #watchIdle(): void {
    const { clock, idleMs = defaultIdleMs } = this.#ports;
    this.#lastUseMs = clock.monotonic();
    if (this.#idleTimer || this.#state.kind !== 'open') return;
    this.#idleTimer = clock.after(idleMs, () => {
      this.#idleTimer = undefined;
      if (this.#state.kind !== 'open') return;
      const isIdle = this.#underWay === 0 && clock.monotonic() - this.#lastUseMs >= idleMs;
      if (isIdle) this.#retire(this.#state.opened.host);
      else this.#watchIdle();
    });
  }

  #retire(host: HostProcess): void {
    this.#state = { kind: 'absent' };
    this.#generation++;
    void host.stop({ shutdownTimeoutMs: 1_000 });
  }
}
