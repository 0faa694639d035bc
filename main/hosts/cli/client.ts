// The command line's connection: this process's own engine when the workspace is free, else its owner's.
import { createStudio, type Studio } from '../../studio.ts';
import { readOwner } from '../../workspace-owner.ts';
import type { RequestInput, RequestName, RequestOutput, Transport } from '../../contract/api.ts';
import type { ErrorInfo } from '../../contract/error.ts';
import { StudioError } from '../../base/errors.ts';
import { localTransport } from '../engine.ts';
import { connectToOwner } from '../owner-socket.ts';

export interface Client extends AsyncDisposable {
  readonly transport: Transport;
  /** The value, or a RequestFailed with the typed error. */
  request<Name extends RequestName>(name: Name, input: RequestInput<Name>): Promise<RequestOutput<Name>>;
  /** Present when this process owns the workspace. */
  readonly studio: Studio | null;
  /** Kills every child at once; for the last Ctrl-C. */
  kill(): void;
}

export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  readonly info: ErrorInfo;
  constructor(info: ErrorInfo) {
    super(info.message);
    this.info = info;
  }
}

export interface ClientOptions {
  readonly workspace?: string | undefined;
  readonly trust?: readonly string[];
  /** Only reads: take the workspace read-only rather than wait for an owner that does not answer. */
  readonly readOnly?: boolean;
}

export async function openClient(options: ClientOptions): Promise<Client> {
  const studio = await createStudio({
    host: 'cli',
    workspace: options.workspace,
    trust: options.trust ?? [],
  }).catch((thrown: unknown) => {
    if (thrown instanceof StudioError && thrown.code === 'workspace_busy') return null;
    throw thrown;
  });
  if (studio) return clientOf(localTransport(studio), studio, () => studio[Symbol.asyncDispose]());
  const owner = await readOwner(options.workspace);
  try {
    const transport = await connectToOwner(owner.socketPath, owner.secret);
    const client = clientOf(transport, null, () => Promise.resolve(transport[Symbol.dispose]()));
    for (const folder of options.trust ?? []) await client.request('trust.add', { folder });
    return client;
  } catch (thrown) {
    if (!options.readOnly) throw thrown;
    const reader = await createStudio({
      host: 'cli',
      workspace: options.workspace,
      trust: [],
      readOnly: true,
    });
    return clientOf(localTransport(reader), reader, () => reader[Symbol.asyncDispose]());
  }
}

function clientOf(transport: Transport, studio: Studio | null, dispose: () => Promise<void>): Client {
  return {
    transport,
    studio,
    async request(name, input) {
      const reply = await transport.request(name, input);
      if (!reply.ok) throw new RequestFailed(reply.error);
      return reply.value;
    },
    kill: () => studio?.killAll(),
    [Symbol.asyncDispose]: dispose,
  };
}
