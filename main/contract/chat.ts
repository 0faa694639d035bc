// Language models: providers, profiles and prices as Settings keep them (never keys), what calls used, and the requests
// of Settings > Language models. A key goes in and never comes out again.
import { z } from 'zod';

export const chatKinds = ['openai-compatible', 'openai', 'anthropic', 'google'] as const;

const chatName = z
  .string()
  .max(60)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'letters, digits, dot, dash and underscore');

export const chatProvider = z.object({
  name: chatName,
  kind: z.enum(chatKinds).default('openai-compatible'),
  /** With the version part, as in `http://127.0.0.1:8000/v1`; empty = the kind's own. */
  baseUrl: z
    .string()
    .max(2000)
    .regex(/^(https?:\/\/\S+)?$/, 'an address that begins with http:// or https://')
    .default(''),
  /** Environment variable that may hold the key; empty = the kind's usual one. */
  keyEnv: z
    .string()
    .max(200)
    .regex(/^([A-Za-z_][A-Za-z0-9_]*)?$/, 'the name of an environment variable')
    .default(''),
  /** False for local servers that ask for none. */
  needsKey: z.boolean().default(true),
  /** Calls at once per key. */
  concurrency: z.number().int().min(1).max(256).default(4),
  /** Off for endpoints that cannot stream: the reply then comes in one piece. */
  streams: z.boolean().default(true),
  /** Off for endpoints that refuse a `seed`. */
  sendsSeed: z.boolean().default(true),
});
export type ChatProvider = z.infer<typeof chatProvider>;

const usdPerMillion = z.number().nonnegative().nullable().default(null);

/** A model by a short name, with what it costs. A price of null is unknown, and then so is the cost. */
export const chatProfile = z.object({
  name: chatName,
  provider: z.string().min(1).max(60),
  model: z.string().min(1).max(200),
  /** Used where a node sets none; null = the provider's own default. */
  temperature: z.number().min(0).max(2).nullable().default(null),
  maxTokens: z.number().int().min(1).nullable().default(null),
  inputUsdPerMillion: usdPerMillion,
  outputUsdPerMillion: usdPerMillion,
  /** Null: cached input costs what other input does. */
  cachedInputUsdPerMillion: usdPerMillion,
});
export type ChatProfile = z.infer<typeof chatProfile>;

export const chatSettings = z.object({
  providers: z.array(chatProvider).max(100).default([]),
  profiles: z.array(chatProfile).max(1000).default([]),
  /** Answers nodes that name none; empty = the first one. */
  defaultProfile: z.string().max(60).default(''),
  /** One try, from the request to the last byte. */
  trySec: z.number().positive().default(120),
  /** One call: all tries and the waits between them. */
  callSec: z.number().positive().default(600),
  /** Further tries after the first. */
  retries: z.number().int().min(0).max(20).default(5),
});
export type ChatSettings = z.infer<typeof chatSettings>;

/** Known without being set up: they need a key, or a server on this machine. */
export const knownProviders: readonly ChatProvider[] = [
  { name: 'openai', kind: 'openai', keyEnv: 'OPENAI_API_KEY' },
  { name: 'anthropic', kind: 'anthropic', keyEnv: 'ANTHROPIC_API_KEY' },
  { name: 'google', kind: 'google', keyEnv: 'GOOGLE_GENERATIVE_AI_API_KEY' },
  { name: 'openrouter', baseUrl: 'https://openrouter.ai/api/v1', keyEnv: 'OPENROUTER_API_KEY' },
  { name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', needsKey: false },
  { name: 'vllm', baseUrl: 'http://127.0.0.1:8000/v1', needsKey: false },
  { name: 'lmstudio', baseUrl: 'http://127.0.0.1:1234/v1', needsKey: false },
].map((provider) => chatProvider.parse(provider));

/** What calls used. Null is unknown: one call that did not say makes the sum unknown. */
export const chatUsage = z.object({
  calls: z.number().int().nonnegative(),
  /** Calls that ended without an answer. */
  failed: z.number().int().nonnegative().default(0),
  /** Tries beyond the first of each call. */
  retries: z.number().int().nonnegative().default(0),
  /** Calls answered from recorded replies: they cost nothing. */
  replayed: z.number().int().nonnegative().default(0),
  inputTokens: z.number().nonnegative().nullable(),
  outputTokens: z.number().nonnegative().nullable(),
  /** US dollars. */
  costUsd: z.number().nonnegative().nullable(),
  /** From the first byte asked to the last one given, waits included, over all calls. */
  durationMs: z.number().nonnegative(),
  models: z.array(z.string()).default([]),
});
export type ChatUsage = z.infer<typeof chatUsage>;

/** Of a run: where replies come from. */
export const chatRunConfig = z.strictObject({
  profile: z
    .string()
    .max(300)
    .default('')
    .describe('Model for nodes that name none: a profile of Settings, or provider/model'),
  /** `record` keeps every reply in the run's folder; `replay` answers from there alone and fails on a miss. */
  replies: z
    .enum(['live', 'record', 'replay'])
    .default('live')
    .describe('Replies of language models: ask, ask and keep, or answer from what was kept'),
  repliesFrom: z
    .string()
    .max(4000)
    .default('')
    .describe('For --replies replay: the id of the run that kept them, or their folder'),
});
export type ChatRunConfig = z.infer<typeof chatRunConfig>;

/** `locked`: kept, but only the desktop app of this user can read it. */
export const keySource = z.enum(['system', 'file', 'environment', 'unneeded', 'locked', 'none']);
export type KeySource = z.infer<typeof keySource>;

export const chatStatus = z.object({
  providers: z.array(
    z.object({
      name: z.string(),
      key: keySource,
      /** The variable that is looked at; empty = none. */
      variable: z.string(),
    }),
  ),
  /** Where a key that is typed in goes, in words. */
  keyStore: z.object({ kind: z.enum(['system', 'file']), says: z.string() }),
});
export type ChatStatus = z.infer<typeof chatStatus>;

export const chatTest = z.object({
  ok: z.boolean(),
  /** What to tell: the reply's beginning, or what to do. */
  message: z.string(),
  model: z.string(),
  usage: chatUsage.nullable(),
  durationMs: z.number(),
});

const providerNames = z.strictObject({ provider: chatName });

export const chatRequests = {
  /** Of providers that are set up and of those known anyway. */
  'chat.status': { input: z.strictObject({}), output: chatStatus },
  'chat.setKey': {
    input: z.strictObject({ provider: chatName, key: z.string().min(1).max(4000) }),
    output: chatStatus,
  },
  'chat.clearKey': { input: providerNames, output: chatStatus },
  /** Asks for one word. A provider need not be saved to be tested. */
  'chat.test': {
    input: z.strictObject({ provider: chatProvider, model: z.string().min(1).max(200) }),
    output: chatTest,
  },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;
