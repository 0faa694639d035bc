// The command line's connection: this process's own engine when the workspace is free, else its owner's.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import { createStudio, type Studio } from '../../studio.ts';
import { systemClock } from '../../base/clock.ts';
import { sleep } from '../../base/abort.ts';
import type { RequestInput, RequestName, RequestOutput, Transport } from '../../contract/api.ts';
import type { ErrorInfo } from '../../contract/error.ts';
import type { ErrorCode } from '../../base/error-codes.ts';
import { StudioError } from '../../base/errors.ts';
import { localTransport } from '../engine.ts';
import { connectToOwner, ownerSocketPath, serveOwnerSocket } from '../owner-socket.ts';

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
  readonly trustContent?: readonly string[];
  /** Only reads: take the workspace read-only rather than wait for an owner that does not answer. */
  readonly readOnly?: boolean;
}

/** What the owner announces in its file. */
const ownerAddress = z.object({ socketPath: z.string(), secret: z.string() });
const ownerStartMs = 5000;
const unwritable: readonly ErrorCode[] = ['disk_full', 'read_only', 'io_failed'];

export async function openClient(options: ClientOptions): Promise<Client> {
  const deadlineMs = systemClock.monotonic() + ownerStartMs;
  for (;;) {
    try {
      return await ownClient(options);
    } catch (thrown) {
      if (!(thrown instanceof StudioError)) throw thrown;
      // A disk that is full or may not be written to can still be read.
      if (options.readOnly && unwritable.includes(thrown.code)) return readOnlyClient(options, thrown);
      if (thrown.code !== 'workspace_busy') throw thrown;
      const client = await clientOfOwner(options, thrown);
      if (client) return client;
      // The owner holds the lock and does not listen yet, or has just let go of it.
      if (systemClock.monotonic() > deadlineMs) return readOnlyClient(options, thrown);
      await sleep(systemClock, 100);
    }
  }
}

async function ownClient({ workspace, trust = [], trustContent = [] }: ClientOptions): Promise<Client> {
  const studio = await createStudio({ host: 'cli', workspace, trust, trustContent, holdQueue: true });
  const secret = randomBytes(16).toString('hex');
  const socketPath = ownerSocketPath(studio.workspaceFolder);
  try {
    const server = await serveOwnerSocket(studio, socketPath, secret);
    await studio.announce(JSON.stringify({ socketPath, secret }));
    return clientOf(localTransport(studio), studio, async () => {
      await server[Symbol.asyncDispose]();
      await studio[Symbol.asyncDispose]();
    });
  } catch (thrown) {
    await studio[Symbol.asyncDispose]();
    throw thrown;
  }
}

/** Null when the owner is not reachable (yet). */
async function clientOfOwner(
  { trust = [], trustContent = [] }: ClientOptions,
  busy: StudioError,
): Promise<Client | null> {
  const address = ownerAddress.safeParse(parseJson(busy.details['address']));
  if (!address.success) return null;
  const transport = await connectToOwner(address.data.socketPath, address.data.secret).catch(() => null);
  if (!transport) return null;
  const client = clientOf(transport, null, async () => transport[Symbol.dispose]());
  const absolute = (named: string): string => path.resolve(process.env['INIT_CWD'] ?? process.cwd(), named);
  for (const folder of trust) await client.request('trust.add', { folder: absolute(folder) });
  for (const target of trustContent) await client.request('trust.addContent', { path: absolute(target) });
  return client;
}

async function readOnlyClient({ workspace, readOnly }: ClientOptions, busy: StudioError): Promise<Client> {
  if (!readOnly) throw busy;
  const reader = await createStudio({ host: 'cli', workspace, readOnly: true });
  return clientOf(localTransport(reader), reader, async () => reader[Symbol.asyncDispose]());
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
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
