// The calls a nodeset's owner makes to its host, with errors that say which process, phase and step. A link whose
// host died, timed out or called itself broken refuses every later call with that first reason.
// Hot path: call() and fireAgain() add one rejection handler to the connection's promise and nothing else.
import { StudioError, toStudioError, type ErrorScope } from '../base/errors.ts';
import { sleep } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { FiringContext } from '../graph/ports.ts';
import type { HostProcess, IncomingCall, RepeatedFiring } from '../process/ports.ts';

export type CallPhase = 'start' | 'reset' | 'step' | 'call' | 'close';

export interface LinkCall {
  readonly timeoutMs: number;
  readonly phase: CallPhase;
  readonly signal?: AbortSignal | undefined;
  /** The firing on whose behalf the call is made; its containers and signals answer what the host asks meanwhile. */
  readonly context?: FiringContext | undefined;
}

/** What a host may ask beside containers and signals, by method: `llm.chat`. */
export type EngineMethods = Readonly<
  Record<
    string,
    (params: unknown, signal: AbortSignal, context: FiringContext | undefined) => Promise<unknown>
  >
>;

/** One process behind a nodeset, or the place where its replacement will be. */
export interface HostLink {
  readonly instance: string;
  /** Changes when another process takes over: what the former one was told is gone. */
  readonly generation: number;
  call(method: string, params: unknown, options: LinkCall): Promise<unknown>;
  /** For a node's call with config; undefined where the host knows no handles. */
  takeHandle?(): number | undefined;
  /** `node.forward` of a node whose process has been told its handle. */
  fireAgain?(firing: RepeatedFiring, options: LinkCall): Promise<unknown>;
}

export interface ProcessLinkOptions {
  readonly instance: string;
  readonly host: HostProcess;
  readonly clock: Clock;
  readonly engineMethods?: EngineMethods | undefined;
}

/** From the end of the connection to the end of the process; longer means it lives on and is killed. */
const exitGraceMs = 800;

export class ProcessLink implements HostLink {
  readonly instance: string;
  readonly generation = 0;
  readonly host: HostProcess;
  readonly #clock: Clock;
  #broken: StudioError | undefined;

  constructor({ instance, host, clock, engineMethods = {} }: ProcessLinkOptions) {
    this.instance = instance;
    this.host = host;
    this.#clock = clock;
    host.connection.serve((method, params, call) => answerHost({ method, params, call, engineMethods }));
  }

  /** Why it must not be used any more. */
  get broken(): StudioError | undefined {
    return this.#broken;
  }

  call(method: string, params: unknown, options: LinkCall): Promise<unknown> {
    if (this.#broken) return Promise.reject(this.#broken);
    return this.host.connection
      .call(method, params, options)
      .catch((thrown: unknown) => this.#explain(toStudioError(thrown, 'remote_error'), options));
  }

  takeHandle(): number | undefined {
    return this.host.connection.takeHandle();
  }

  fireAgain(firing: RepeatedFiring, options: LinkCall): Promise<unknown> {
    if (this.#broken) return Promise.reject(this.#broken);
    return this.host.connection
      .fireAgain(firing, options)
      .catch((thrown: unknown) => this.#explain(toStudioError(thrown, 'remote_error'), options));
  }

  /** Rethrows with scope; what ends the link's life is remembered. */
  async #explain(error: StudioError, options: LinkCall): Promise<never> {
    const scope = scopeOf(options);
    switch (error.code) {
      case 'process_died':
        throw this.#breakWith(error).within(scope);
      case 'connection_closed':
      case 'protocol_error': {
        const death = await this.#deathAfter(error);
        throw this.#breakWith(death).within(scope);
      }
      case 'timeout': {
        const seconds = Math.round(options.timeoutMs / 100) / 10;
        const late = new StudioError(
          'timeout',
          `${this.instance} did not answer within ${seconds} s (${options.phase})`,
          {
            cause: error,
            scope,
            details: {
              timeoutMs: options.timeoutMs,
              silentSinceMs: this.host.connection.silentSinceMs(),
              stderrTail: [...this.host.process.stderrTail(20)],
            },
          },
        );
        throw this.#breakWith(late);
      }
      case 'fatal':
        throw this.#breakWith(error.within(scope));
      default:
        throw error.within(scope);
    }
  }

  #breakWith(error: StudioError): StudioError {
    this.#broken ??= error;
    return error;
  }

  /** The process's own account of its end; a process that outlives its connection is ended. */
  async #deathAfter(error: StudioError): Promise<StudioError> {
    const exited = this.host.process.exited.then(() => true);
    const inTime = await Promise.race([exited, sleep(this.#clock, exitGraceMs).then(() => false)]);
    if (inTime) return await this.host.death();
    const tail = [...this.host.process.stderrTail(20)];
    void this.host.kill();
    if (error.code === 'protocol_error')
      return new StudioError('protocol_error', `${this.instance}: ${error.message}`, {
        cause: error,
        details: { stderrTail: tail },
      });
    return new StudioError(
      'connection_closed',
      `${this.instance} closed its connection while an answer was awaited`,
      { cause: error, details: { stderrTail: tail } },
    );
  }
}

function scopeOf({ phase, context }: LinkCall): ErrorScope {
  return context ? { phase, nodePath: context.nodeId, step: context.step } : { phase };
}

interface HostQuestion {
  readonly method: string;
  readonly params: unknown;
  readonly call: IncomingCall;
  readonly engineMethods: EngineMethods;
}

function answerHost({ method, params, call, engineMethods }: HostQuestion): unknown {
  const own = Object.hasOwn(engineMethods, method) ? engineMethods[method] : undefined;
  const context = call.context as FiringContext | undefined;
  if (own) return own(params, call.signal, context);
  if (!context)
    throw new StudioError(
      'invalid_input',
      `"${method}" is answered only while a node fires, and on behalf of its call`,
    );
  const wanted = isRecord(params) ? params : {};
  if (method === 'signal') {
    context.emitSignal(String(wanted['name']));
    return {};
  }
  const container = String(wanted['container']);
  const state = String(wanted['state']);
  const key = keyOf(wanted['key']);
  switch (method) {
    case 'container.read':
      return { value: context.containers.read(container, state, key) };
    case 'container.write':
      context.containers.write(container, state, wanted['value'], key);
      return {};
    case 'container.evict':
      if (key === undefined) throw new StudioError('invalid_input', 'container.evict needs a key');
      context.containers.evict(container, state, key);
      return {};
    default:
      throw new StudioError('unsupported', `the engine has no method "${method}"`);
  }
}

function keyOf(key: unknown): string | undefined {
  if (key === undefined || key === null) return undefined;
  return typeof key === 'string' ? key : JSON.stringify(key);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
