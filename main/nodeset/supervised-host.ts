// One server process for all workers, replaced when it dies, hangs or calls itself broken. Calls in flight fail with
// the reason; calls that come meanwhile wait for the replacement. After too many deaths without an answer between them
// it stays down and says so.
import { sleep, throwIfAborted, withDeadline } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { StudioError, toStudioError } from '../base/errors.ts';
import type { HostProcess, RepeatedFiring } from '../process/ports.ts';
import { decideRestart } from '../process/restart-policy.ts';
import type { HostLink, LinkCall, ProcessLink } from './host-link.ts';
import type { StartedHost } from './remote-nodeset.ts';

export interface SupervisedHostOptions {
  readonly instance: string;
  readonly clock: Clock;
  readonly closeMs: number;
  readonly start: (signal: AbortSignal) => Promise<StartedHost>;
}

type State =
  | { readonly kind: 'running'; readonly started: StartedHost }
  | { readonly kind: 'restarting'; readonly ready: Promise<StartedHost> }
  | { readonly kind: 'down'; readonly reason: StudioError }
  | { readonly kind: 'stopped' };

export class SupervisedHost implements HostLink, AsyncDisposable {
  readonly instance: string;
  readonly #options: SupervisedHostOptions;
  readonly #stop = new AbortController();
  #state: State;
  #generation = 0;
  #deaths = 0;

  constructor(options: SupervisedHostOptions, first: StartedHost) {
    this.instance = options.instance;
    this.#options = options;
    this.#state = { kind: 'running', started: first };
    this.#watch(first);
  }

  get generation(): number {
    return this.#generation;
  }

  get host(): HostProcess | undefined {
    return this.#state.kind === 'running' ? this.#state.started.link.host : undefined;
  }

  call(method: string, params: unknown, options: LinkCall): Promise<unknown> {
    return this.#use(options, (link) => link.call(method, params, options));
  }

  takeHandle(): number | undefined {
    return this.#state.kind === 'running' ? this.#state.started.link.takeHandle() : undefined;
  }

  /** Of the process that took the handle: another one has another generation. */
  fireAgain(firing: RepeatedFiring, options: LinkCall): Promise<unknown> {
    return this.#use(options, (link) => link.fireAgain(firing, options));
  }

  async #use(options: LinkCall, ask: (link: ProcessLink) => Promise<unknown>): Promise<unknown> {
    const { link } = await this.#running(options);
    try {
      const answer = await ask(link);
      this.#deaths = 0;
      return answer;
    } catch (error) {
      if (link.broken && this.host === link.host) this.#replace(link.broken);
      throw error;
    }
  }

  /** Ends the process now; the next call meets a fresh one. */
  async restart(): Promise<void> {
    const { host } = this;
    if (!host) return;
    this.#deaths = 0;
    this.#replace(new StudioError('process_died', `${this.instance} was restarted`));
    await host.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'stopped' };
    this.#stop.abort(new StudioError('aborted', `${this.instance} was unloaded`));
    if (state.kind === 'running')
      await state.started.link.host.stop({ shutdownTimeoutMs: this.#options.closeMs });
    if (state.kind === 'restarting') {
      const started = await state.ready.catch(() => undefined);
      await started?.link.host.kill();
    }
  }

  async #running(options: LinkCall): Promise<StartedHost> {
    const state = this.#state;
    switch (state.kind) {
      case 'running':
        return state.started;
      case 'restarting': {
        const { timeoutMs, signal } = options;
        return await withDeadline(state.ready, {
          clock: this.#options.clock,
          timeoutMs,
          signal,
          what: `the restart of ${this.instance}`,
        });
      }
      case 'down':
        throw state.reason;
      case 'stopped':
        throw new StudioError('connection_closed', `${this.instance} was unloaded; load the nodeset again`);
    }
  }

  #watch(started: StartedHost): void {
    void started.link.host.death().then((death) => {
      if (this.#state.kind === 'running' && this.#state.started === started) this.#replace(death);
    });
  }

  #replace(reason: StudioError): void {
    const former = this.host;
    this.#deaths++;
    this.#generation++;
    const ready = Promise.resolve().then(() => this.#bringBack(reason));
    // Whoever needs it awaits it; nobody may.
    ready.catch(() => undefined);
    this.#state = { kind: 'restarting', ready };
    if (former) void former.kill();
  }

  /** Tries until it runs or the crash budget is spent; a failed start counts as a death. */
  async #bringBack(reason: StudioError): Promise<StartedHost> {
    const { clock, start } = this.#options;
    const { signal } = this.#stop;
    const decision = decideRestart(this.#deaths);
    if (decision.action === 'down') {
      const down = this.#downBecause(reason);
      if (!signal.aborted) this.#state = { kind: 'down', reason: down };
      throw down;
    }
    await sleep(clock, decision.delayMs, signal);
    let started: StartedHost;
    try {
      started = await start(signal);
    } catch (error) {
      throwIfAborted(signal);
      this.#deaths++;
      return await this.#bringBack(toStudioError(error, 'process_died'));
    }
    if (signal.aborted) await started.link.host.kill();
    throwIfAborted(signal);
    this.#state = { kind: 'running', started };
    this.#watch(started);
    return started;
  }

  #downBecause(reason: StudioError): StudioError {
    const message = `${this.instance} ended ${this.#deaths} times without answering in between and stays down: ${reason.message}; look at its log and reload the nodeset`;
    return new StudioError('process_died', message, { cause: reason, details: reason.details });
  }
}
