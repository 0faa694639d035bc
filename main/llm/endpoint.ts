// Whom a call goes to: a profile, a pinned provider and model, or the default, found in Settings and among the known
// providers. Pure: keys and prices are looked up with what it finds.
import { StudioError } from '../base/errors.ts';
import { knownProviders, type ChatProfile, type ChatProvider, type ChatSettings } from '../contract/chat.ts';
import type { ChatNodeConfig } from './ports.ts';

export interface Endpoint {
  readonly provider: ChatProvider;
  readonly model: string;
  /** Where prices and defaults are; null for a model that is no profile. */
  readonly profile: ChatProfile | null;
}

/** On a node: its own provider and model count, as AgentCanvas writes it. */
const pinned = '__direct__';

/** The node's own word, then the run's, then the default profile. Throws `invalid_input` that says what to set. */
export function endpointOf(settings: ChatSettings, node: ChatNodeConfig, runProfile = ''): Endpoint {
  if (node.profile === pinned || (node.profile === '' && node.provider !== '' && node.model !== ''))
    return direct(settings, node.provider, node.model);
  const wanted = node.profile || runProfile || settings.defaultProfile || settings.profiles[0]?.name || '';
  if (wanted === '')
    throw new StudioError(
      'invalid_input',
      'no language model is chosen: add a model in Settings > Language models, or give --model provider/model',
    );
  const profile = settings.profiles.find(({ name }) => name === wanted);
  if (profile) return { provider: providerOf(settings, profile.provider), model: profile.model, profile };
  const slash = wanted.indexOf('/');
  if (slash > 0) return direct(settings, wanted.slice(0, slash), wanted.slice(slash + 1));
  const known = settings.profiles.map(({ name }) => name).join(', ') || 'none';
  throw new StudioError(
    'invalid_input',
    `no model is named "${wanted}" in Settings > Language models (there are: ${known}); provider/model works too`,
  );
}

function direct(settings: ChatSettings, providerName: string, model: string): Endpoint {
  const provider = providerOf(settings, providerName);
  if (model === '')
    throw new StudioError('invalid_input', `a model of ${providerName} must be named, as in provider/model`);
  const profile =
    settings.profiles.find((candidate) => candidate.provider === providerName && candidate.model === model) ??
    null;
  return { provider, model, profile };
}

function providerOf(settings: ChatSettings, name: string): ChatProvider {
  const provider = allProviders(settings).find((candidate) => candidate.name === name);
  if (provider) return provider;
  throw new StudioError(
    'invalid_input',
    `no provider is named "${name}": add it in Settings > Language models (known: ${allProviders(settings)
      .map((candidate) => candidate.name)
      .join(', ')})`,
  );
}

/** Those of Settings, then the known ones they do not redefine. */
export function allProviders(settings: ChatSettings): readonly ChatProvider[] {
  const own = new Set(settings.providers.map(({ name }) => name));
  return [...settings.providers, ...knownProviders.filter(({ name }) => !own.has(name))];
}

const usualVariables: Readonly<Record<ChatProvider['kind'], string>> = {
  'openai-compatible': '',
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};

export function keyVariable({ keyEnv, kind }: ChatProvider): string {
  return keyEnv || usualVariables[kind];
}

/** What to do about a key that is not there. */
export function keyAdvice(provider: ChatProvider, source: 'none' | 'locked'): string {
  const variable = keyVariable(provider);
  const otherwise = variable === '' ? '' : `, or set the environment variable ${variable}`;
  return source === 'locked'
    ? `its key is in the desktop app's key store; run from the app${otherwise}`
    : `set it in Settings > Language models${otherwise}`;
}

export interface TokenCounts {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedInputTokens: number;
  /** Some endpoints say what a call cost. */
  readonly statedCostUsd: number | null;
}

/** US dollars; null when a price or a count is unknown. */
export function costOf(profile: ChatProfile | null, counts: TokenCounts): number | null {
  if (counts.statedCostUsd !== null) return counts.statedCostUsd;
  const { inputTokens, outputTokens, cachedInputTokens } = counts;
  const {
    inputUsdPerMillion = null,
    outputUsdPerMillion = null,
    cachedInputUsdPerMillion = null,
  } = profile ?? {};
  if (inputUsdPerMillion === null || outputUsdPerMillion === null) return null;
  if (inputTokens === null || outputTokens === null) return null;
  const cached = Math.min(cachedInputTokens, inputTokens);
  const cachedPrice = cachedInputUsdPerMillion ?? inputUsdPerMillion;
  return (
    ((inputTokens - cached) * inputUsdPerMillion +
      cached * cachedPrice +
      outputTokens * outputUsdPerMillion) /
    1e6
  );
}
