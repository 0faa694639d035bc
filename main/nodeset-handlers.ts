// Requests about nodesets: the registry's work, and what of it is kept in Settings (interpreters, attachments).
import { StudioError } from './base/errors.ts';
import type { RequestOutput } from './contract/api.ts';
import type { NodesetSummary } from './contract/nodeset.ts';
import { attachment, type Attachment, type Settings } from './contract/settings.ts';
import type { Handlers } from './dispatch.ts';
import { builtinManifests } from './graph/builtin/catalog.ts';
import { policyManifest } from './inference/onnx/policy-node.ts';
import type { NodesetRegistry } from './nodeset/ports.ts';

export interface NodesetServices {
  readonly registry: NodesetRegistry;
  readonly settings: () => Settings;
  readonly replaceSettings: (settings: Settings) => Promise<void>;
}

/** True when what the registry reads of them differs, so that it has to look again. */
export function concernsNodesets(before: Settings, after: Settings): boolean {
  const part = ({ python, interpreters, attachments }: Settings): string =>
    JSON.stringify([python, interpreters, attachments]);
  return part(before) !== part(after);
}

type NodesetRequests = Extract<keyof Handlers, `nodesets.${string}`>;

export function createNodesetHandlers(
  services: NodesetServices,
  writable: () => void,
): Pick<Handlers, NodesetRequests> {
  const { registry } = services;
  return {
    'nodesets.list': async () => ({ nodesets: [...registry.list()] }),
    'nodesets.nodes': async () => ({ nodes: [...builtinManifests, policyManifest, ...nodesOf(registry)] }),
    'nodesets.load': async ({ name }, signal) => registry.load(name, { signal }),
    'nodesets.unload': async ({ name }) => {
      await registry.unload(name);
      return {};
    },
    'nodesets.reload': async ({ name }) => registry.reload(name),
    'nodesets.rescan': async () => {
      await registry.scan();
      return { nodesets: [...registry.list()] };
    },
    'nodesets.log': async ({ name }) => ({ lines: [...registry.logTail(name)] }),
    'nodesets.buildEnvironment': async ({ name, wait }, signal) => build(registry, { name, wait, signal }),
    'nodesets.cancelBuild': async ({ name }) => {
      await registry.cancelBuild(name);
      return {};
    },
    'nodesets.setInterpreter': async ({ name, interpreter }) => {
      writable();
      return await setInterpreter(services, name, interpreter.trim());
    },
    'nodesets.attach': async ({ url, tokenEnv, name }, signal) => {
      writable();
      return await attach(services, { url, tokenEnv, name }, signal);
    },
    'nodesets.detach': async ({ name }) => {
      writable();
      await detach(services, name);
      return {};
    },
  };
}

function nodesOf(registry: NodesetRegistry): RequestOutput<'nodesets.nodes'>['nodes'] {
  const types = registry.list().flatMap(({ nodeTypes }) => nodeTypes);
  const manifests = [...new Set(types)].map((type) => registry.manifests.manifestOf(type));
  return manifests.filter((manifest) => manifest !== undefined);
}

async function build(
  registry: NodesetRegistry,
  { name, wait, signal }: { readonly name: string; readonly wait: boolean; readonly signal: AbortSignal },
): Promise<NodesetSummary> {
  if (wait) return await registry.buildEnvironment(name, { signal });
  const begun = Promise.withResolvers<undefined>();
  using _changes = registry.onChange((summary) => {
    if (summary.name === name && summary.environment?.state === 'building') begun.resolve(undefined);
  });
  // What cannot even begin is refused at once; how it goes on is shown by the nodeset itself.
  const whole = registry.buildEnvironment(name);
  whole.catch(() => undefined);
  await Promise.race([whole, begun.promise]);
  return summaryOf(registry, name);
}

async function setInterpreter(
  { registry, settings, replaceSettings }: NodesetServices,
  name: string,
  interpreter: string,
): Promise<NodesetSummary> {
  const { language } = summaryOf(registry, name);
  if (language !== 'python')
    throw new StudioError('unsupported', `"${name}" is written in TypeScript and needs no interpreter`);
  const { [name]: _former, ...others } = settings().interpreters;
  const interpreters = interpreter === '' ? others : { ...others, [name]: interpreter };
  await replaceSettings({ ...settings(), interpreters });
  return await registry.reload(name).catch(() => summaryOf(registry, name));
}

async function attach(
  { registry, settings, replaceSettings }: NodesetServices,
  wanted: { readonly url: string; readonly tokenEnv: string; readonly name: string | undefined },
  signal: AbortSignal,
): Promise<NodesetSummary> {
  const { url, tokenEnv } = wanted;
  checkAddress(wanted);
  const name = wanted.name ?? (await registry.nameOfServer({ url, tokenEnv }, signal));
  const parsed = attachment.safeParse({ name, url, tokenEnv });
  if (!parsed.success)
    throw new StudioError(
      'invalid_input',
      `"${name}" cannot name a nodeset; give another with --name: letters, digits, _ and -`,
    );
  if (registry.list().some((known) => known.name === name))
    throw new StudioError(
      'conflict',
      `a nodeset is named "${name}" already; attach under another name with --name`,
    );
  await replaceSettings({ ...settings(), attachments: [...settings().attachments, parsed.data] });
  await registry.lookAtAttached();
  return summaryOf(registry, name);
}

function checkAddress({ url, tokenEnv }: Pick<Attachment, 'url' | 'tokenEnv'>): void {
  if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
    throw new StudioError('invalid_input', `"${url}" is no address; give one like http://127.0.0.1:9200`);
  if (!/^\w*$/.test(tokenEnv))
    throw new StudioError(
      'invalid_input',
      'give the name of the environment variable that holds the token, not the token itself',
    );
}

async function detach({ registry, settings, replaceSettings }: NodesetServices, name: string): Promise<void> {
  const kept = settings().attachments.filter((each) => each.name !== name);
  if (kept.length === settings().attachments.length)
    throw new StudioError('not_found', `no server is attached as "${name}"`);
  if (registry.list().some((known) => known.name === name)) await registry.unload(name);
  await replaceSettings({ ...settings(), attachments: kept });
  await registry.lookAtAttached();
}

function summaryOf(registry: NodesetRegistry, name: string): NodesetSummary {
  const found = registry.list().find((summary) => summary.name === name);
  if (found) return found;
  throw new StudioError(
    'nodeset_unknown',
    `no nodeset is named "${name}"; \`agentcanvas nodesets list\` shows all`,
  );
}
