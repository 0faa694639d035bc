// A nodeset on a server at a URL: asked what it is, used like a shared one, never stopped. Its environment serves one
// worker, since the server has one instance of it.
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import type { NodesetManifest } from '../contract/nodeset.ts';
import { foreignManifest } from './hosts/http/foreign-manifest.ts';
import { deadlinesOf, type DefaultDeadlines } from './deadlines.ts';
import { AttachedLink } from './hosts/http/attached-link.ts';
import { createServerClient, type ServerClient } from './hosts/http/server-client.ts';
import type { LiveNodeset } from './live-nodeset.ts';
import { nodeTypeOf } from './manifest.ts';
import { RemoteNodeset } from './remote-nodeset.ts';
import type { LiveStart } from './start-live.ts';
import { createStageReporter } from './stages.ts';
import type { NodesetSource, NodesetVersion } from './version.ts';
import { manifestFromWire } from './wire-form.ts';

const describeMs = 30_000;

type Members = Readonly<Record<string, unknown>>;

export interface AttachedServer {
  readonly url: string;
  readonly tokenEnv: string;
}

export interface ServerPorts {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly deadlines?: DefaultDeadlines | undefined;
}

/** The name a server gives itself. Rejects with what to do when it is none. */
export async function nameOfServer(
  server: AttachedServer,
  ports: ServerPorts,
  signal?: AbortSignal,
): Promise<string> {
  using client = clientFor(server, ports);
  return String((await manifestOf(client, signal))['name']);
}

export async function describeAttached(
  source: NodesetSource,
  ports: ServerPorts,
  signal?: AbortSignal,
): Promise<NodesetManifest> {
  using client = clientFor({ url: source.entry, tokenEnv: source.tokenEnv ?? '' }, ports);
  const stated = await manifestOf(client, signal);
  const hasPanel = (await client.get('env-panel/info', { timeoutMs: describeMs, signal })) !== undefined;
  return manifestFromWire(foreignManifest(stated, source.name, hasPanel), source.name);
}

export async function startAttached(
  { source, manifest }: NodesetVersion,
  ports: ServerPorts,
  start: LiveStart,
): Promise<LiveNodeset> {
  const { name } = source;
  const stages = createStageReporter({
    nodeset: name,
    instance: name,
    clock: ports.clock,
    onStage: start.onStage,
  });
  stages.report('starting', { message: `asking ${source.entry}` });
  const client = clientFor({ url: source.entry, tokenEnv: source.tokenEnv ?? '' }, ports);
  try {
    const limits = { timeoutMs: describeMs, signal: start.signal };
    const serverName = String((await manifestOf(client, start.signal))['name']);
    await client.get('health', limits);
    stages.report('ready');
    const link = new AttachedLink({
      instance: name,
      client,
      serverType: (nodeType) =>
        nodeType.startsWith(`${name}__`) ? nodeTypeOf(serverName, nodeType.slice(name.length + 2)) : nodeType,
    });
    return attachedNodeset(new RemoteNodeset(manifest, link, deadlinesOf(manifest, ports.deadlines)), client);
  } catch (error) {
    client[Symbol.dispose]();
    stages.report('failed', { message: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

function attachedNodeset(remote: RemoteNodeset, client: ServerClient): LiveNodeset {
  const { manifest, nodeTypes, panel } = remote;
  return {
    manifest,
    nodeTypes,
    panel,
    evalMetadata: (limits) => remote.evalMetadata(limits),
    batchBackend: (nodeType) => remote.batchBackend(nodeType, () => Promise.resolve()),
    endExecution: (executionId) => remote.endExecution(executionId),
    host: undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(client[Symbol.dispose]()),
  };
}

function clientFor({ url, tokenEnv }: AttachedServer, { clock, environment }: ServerPorts): ServerClient {
  const token = tokenEnv === '' ? '' : environment[tokenEnv];
  if (token === undefined)
    throw new StudioError(
      'unauthorized',
      `the environment variable ${tokenEnv}, which holds the token for ${url}, is not set; set it and start AgentCanvas again`,
    );
  return createServerClient({ url, token, clock });
}

async function manifestOf(client: ServerClient, signal: AbortSignal | undefined): Promise<Members> {
  const answer = await client.get('manifest', { timeoutMs: describeMs, signal });
  if (answer !== null && typeof answer === 'object' && 'name' in answer && typeof answer.name === 'string')
    return { ...answer };
  throw new StudioError(
    'remote_error',
    `${client.url}manifest is not the manifest of a nodeset server; give the address that its start printed`,
  );
}
