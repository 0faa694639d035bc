// The one way into the engine: validates a request against the contract, calls its handler, wraps the reply and maps
// errors. Every host uses it, so no handler is ever reached by an invalid payload.
import { z } from 'zod';
import { errorInfo, type ErrorInfo } from './contract/error.ts';
import { requests } from './contract/requests.ts';
import type { ParsedInput, RequestName, RequestOutput, Reply } from './contract/api.ts';
import { StudioError, toStudioError } from './base/errors.ts';
import type { Logger } from './base/logger.ts';

export type Handlers = {
  [Name in RequestName]: (input: ParsedInput<Name>, signal: AbortSignal) => Promise<RequestOutput<Name>>;
};

export interface Dispatcher {
  /** Never rejects: what goes wrong is in the reply. */
  dispatch(name: string, input: unknown, signal?: AbortSignal): Promise<Reply<RequestName>>;
}

export interface DispatcherOptions {
  readonly handlers: Handlers;
  readonly logger: Logger;
  /** Also holds replies to the contract; for tests and development. */
  readonly checkReplies?: boolean;
  /** Takes secrets out of replies and errors. */
  readonly redact?: <Value>(value: Value) => Value;
}

/** What a person wrote goes back as it is: they may be about to save it. */
const ownWords = /^(graphs\.(?!introspect)|settings\.|play\.(?!node|viewers))/;

export function createDispatcher({
  handlers,
  logger,
  checkReplies = false,
  redact = (value) => value,
}: DispatcherOptions): Dispatcher {
  const never = new AbortController().signal;
  const answer = async (
    name: string,
    input: unknown,
    signal: AbortSignal,
  ): Promise<RequestOutput<RequestName>> => {
    if (!isRequestName(name))
      throw new StudioError('not_found', `There is no request "${name.slice(0, 60)}".`);
    const parsed = requests[name].input.safeParse(input ?? {});
    if (!parsed.success) throw invalidInput(name, parsed.error);
    const handler = handlers[name] as (
      value: unknown,
      signal: AbortSignal,
    ) => Promise<RequestOutput<RequestName>>;
    const value = await handler(parsed.data, signal);
    return checkReplies ? requests[name].output.parse(value) : value;
  };
  return {
    async dispatch(name, input, signal = never) {
      try {
        const value = await answer(name, input, signal);
        return { ok: true, value: ownWords.test(name) ? value : redact(value) };
      } catch (thrown) {
        const error = toStudioError(thrown);
        if (error.code === 'internal')
          logger.error('request failed', { request: name, error: String(error.stack) });
        return { ok: false, error: redact(describeError(error)) };
      }
    },
  };
}

export function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(requests, name);
}

/** An error in the form hosts and the renderer see: no stack, no cause, details as plain JSON. */
export function describeError(error: StudioError): ErrorInfo {
  const details = JSON.parse(JSON.stringify(error.details)) as Record<string, unknown>;
  return errorInfo.parse({ code: error.code, message: error.message, scope: error.scope, details });
}

/** "path: what was wrong", first problem first, under 300 characters. */
function invalidInput(name: string, error: z.ZodError): StudioError {
  const problems = error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`);
  const message = `${name}: ${problems.join('; ')}`;
  return new StudioError('invalid_input', message.length > 290 ? `${message.slice(0, 289)}…` : message, {
    details: {
      issues: error.issues
        .slice(0, 20)
        .map((issue) => ({ path: issue.path.map(String), message: issue.message })),
    },
  });
}
