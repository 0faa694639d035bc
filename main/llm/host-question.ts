// `llm.chat` of the host protocol: what a Python nodeset asks through `app.llm`, in the form of the engine's own calls.
import { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import type { FiringContext } from '../graph/ports.ts';
import type { Answer, Question } from './answerer.ts';
import { promptOfMessages } from './prompt.ts';

const hostParams = z.object({
  messages: z.array(z.unknown()).min(1).max(10_000),
  profile: z.string().default(''),
  provider: z.string().default(''),
  model: z.string().default(''),
  max_tokens: z.number().int().positive().optional(),
  temperature: z.number().min(0).optional(),
  stop: z.array(z.string()).default([]),
  n: z.number().int().min(1).max(64).default(1),
});

/** Outside a firing nothing of an execution is known: the call belongs to none. */
export function hostQuestion(params: unknown, context: FiringContext | undefined): Question {
  const parsed = hostParams.safeParse(params);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new StudioError(
      'invalid_input',
      `llm.chat: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not of the right form'}`,
    );
  }
  const { messages, profile, provider, model, max_tokens, temperature, stop, n } = parsed.data;
  return {
    executionId: context?.executionId ?? '',
    nodeId: context?.nodeId ?? '',
    step: context?.step ?? 0,
    seed: context?.seed ?? 0,
    profile,
    provider,
    model,
    prompt: promptOfMessages(messages),
    sampling: { temperature, maxTokens: max_tokens, stop },
    sampleCount: n,
  };
}

export function hostReply(answers: readonly Answer[]): unknown {
  const [first] = answers;
  return {
    text: first?.text ?? '',
    texts: answers.map(({ text }) => text),
    model: first?.model ?? '',
    finish: first?.finish ?? '',
    usage: loggedUsage(answers),
  };
}

/** As it stands in a firing's log: snake_case, as everything on disk. */
export function loggedUsage(answers: readonly Answer[]): Readonly<Record<string, unknown>> {
  const sum = (of: (answer: Answer) => number | null): number | null =>
    answers.reduce<number | null>((total, answer) => {
      const value = of(answer);
      return total === null || value === null ? null : total + value;
    }, 0);
  return {
    input_tokens: sum(({ usage }) => usage.inputTokens),
    output_tokens: sum(({ usage }) => usage.outputTokens),
    cost_usd: sum(({ usage }) => usage.costUsd),
    duration_ms: Math.max(0, ...answers.map(({ usage }) => Math.round(usage.durationMs))),
    retries: sum(({ usage }) => usage.retries),
    replayed: sum(({ usage }) => usage.replayed),
    finish: answers.map(({ finish }) => finish).join(', '),
  };
}
