// One call: a slot of its key, a try, and further tries under one deadline. How it ends is decided here and in
// retry-rule.ts, and nowhere else.
import { abortedError, sleep } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import type { ChatSettings } from '../contract/chat.ts';
import type { Endpoint } from './endpoint.ts';
import type { KeyLimiter } from './key-limiter.ts';
import { tryOnce, type ModelReply, type TryOutcome, type TryRequest } from './one-try.ts';
import { isWorthAnotherTry, waitMs, type TryFailure } from './retry-rule.ts';

export interface ChatCallPorts {
  readonly clock: Clock;
  /** In [0, 1): spreads callers that were refused together. */
  readonly random: () => number;
}

export interface ChatCall extends Pick<TryRequest, 'endpoint' | 'key' | 'prompt' | 'sampling' | 'onText'> {
  readonly limits: Pick<ChatSettings, 'trySec' | 'callSec' | 'retries'>;
  readonly limiter: KeyLimiter;
  readonly signal: AbortSignal;
}

export interface AnsweredCall {
  readonly reply: ModelReply;
  readonly tries: number;
  readonly durationMs: number;
}

/** Carries how often was asked. */
export class ChatCallError extends StudioError {
  readonly tries: number;
  constructor(tries: number, error: StudioError) {
    super(error.code, error.message, { cause: error.cause, details: error.details });
    this.tries = tries;
  }
}

/** Rejects with `aborted`, or with a ChatCallError that says what to do. Waiting for a slot is no part of the deadline. */
export async function callModel(ports: ChatCallPorts, call: ChatCall): Promise<AnsweredCall> {
  const { clock, random } = ports;
  const { limits, limiter, endpoint, signal } = call;
  let startedMs: number | undefined;
  for (let tries = 1; ; tries++) {
    let outcome: TryOutcome;
    {
      using _slot = await limiter.acquire(signal);
      startedMs ??= clock.monotonic();
      const restMs = limits.callSec * 1000 - (clock.monotonic() - startedMs);
      outcome = await boundedTry(clock, call, Math.min(limits.trySec * 1000, restMs));
    }
    const durationMs = clock.monotonic() - startedMs;
    if (outcome.ok) return { reply: outcome.reply, tries, durationMs };
    const { failure } = outcome;
    if (!isWorthAnotherTry(failure) || tries > limits.retries)
      throw new ChatCallError(tries, failedCall(endpoint, failure, tries));
    const delayMs = waitMs(failure, tries, random());
    if (durationMs + delayMs >= limits.callSec * 1000)
      throw new ChatCallError(tries, outOfTime(endpoint, failure, { tries, delayMs, limits }));
    if (failure.hintMs !== undefined) limiter.hold(failure.hintMs);
    await sleep(clock, delayMs, signal);
  }
}

/** A try that took too long is aborted and counts as one that failed. */
async function boundedTry(clock: Clock, call: ChatCall, timeoutMs: number): Promise<TryOutcome> {
  const late = new AbortController();
  using _timer = clock.after(timeoutMs, () => late.abort());
  const { endpoint, key, prompt, sampling, onText, signal } = call;
  try {
    return await tryOnce({
      endpoint,
      key,
      prompt,
      sampling,
      onText,
      nowMs: () => clock.now(),
      signal: AbortSignal.any([signal, late.signal]),
    });
  } catch (thrown) {
    if (signal.aborted) throw abortedError(signal);
    if (!late.signal.aborted) throw thrown;
    const message = `no complete reply within ${Math.round(timeoutMs / 100) / 10} s`;
    return { ok: false, failure: { kind: 'timeout', message } };
  }
}

function failedCall({ provider, model }: Endpoint, failure: TryFailure, tries: number): StudioError {
  const { name } = provider;
  const { status, message } = failure;
  const details = { provider: name, model, tries, ...(status === undefined ? {} : { status }) };
  if (status === 401 || status === 403)
    return new StudioError(
      'unauthorized',
      `${name} refused the key (${status}): set it in Settings > Language models. It says: ${message}`,
      { details },
    );
  if (status === 404)
    return new StudioError(
      'remote_error',
      `${name} knows no model "${model}", or its address is not right (404): ${message}`,
      { details },
    );
  const often = tries === 1 ? '' : ` after ${tries} tries`;
  const code = status === undefined ? '' : ` (${status})`;
  return new StudioError('remote_error', `${name} gave no reply${often}${code}: ${message}`, { details });
}

function outOfTime(
  { provider, model }: Endpoint,
  failure: TryFailure,
  { tries, delayMs, limits }: { tries: number; delayMs: number; limits: ChatCall['limits'] },
): StudioError {
  const { name } = provider;
  const seconds = Math.round(delayMs / 100) / 10;
  const asked =
    failure.hintMs === undefined ? `the next try would come in ${seconds} s` : `it asks to wait ${seconds} s`;
  return new StudioError(
    'remote_error',
    `${name} gave no reply and ${asked}, which is beyond the ${limits.callSec} s a call may take: ${failure.message}`,
    {
      details: {
        provider: name,
        model,
        tries,
        ...(failure.status === undefined ? {} : { status: failure.status }),
      },
    },
  );
}
