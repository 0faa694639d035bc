// The host program of TypeScript nodesets: `node node-host.ts --file BUNDLE --name NAME [--instance name#k]`.
// Serves one compiled nodeset over the host protocol; with `--manifest-only` it prints the manifest and exits.
// User code is imported by the first call that needs it, after the process layer has secured the process.
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { StudioError, messageOf } from '../../base/errors.ts';
import { runHostServer } from '../../process/host-server.ts';
import type { FrameConnection, IncomingCall } from '../../process/ports.ts';
import { buildManifest, nodesetSpecFrom } from '../manifest.ts';
import { manifestToWire } from '../wire-form.ts';
import { NodesetServer, type ServedCall, type ServedNodeset } from './nodeset-server.ts';

const exitCodes = { failed: 1, usage: 2, uncaught: 70 } as const;
/** The engine answers from memory; longer means that it is gone or stuck. */
const askTimeoutMs = 60_000;

interface HostArguments {
  readonly file: string;
  readonly name: string;
  readonly manifestOnly: boolean;
}

async function openNodeset({ file, name }: HostArguments): Promise<ServedNodeset> {
  const module: unknown = await import(pathToFileURL(file).href);
  const spec = nodesetSpecFrom(module, name);
  const instance = spec.create();
  return { manifest: buildManifest(spec, instance), instance };
}

async function serve(args: HostArguments): Promise<void> {
  let connection: FrameConnection | undefined;
  let server: NodesetServer | undefined;
  let opening: Promise<NodesetServer> | undefined;
  const open = async (): Promise<NodesetServer> => (server = new NodesetServer(await openNodeset(args)));
  await runHostServer({
    onConnected: (connected) => (connection = connected),
    handle(method, params, call) {
      if (method === 'hello')
        return { features: [], language: 'typescript', version: process.version, packages: {} };
      const served = new EngineCall(call, connection);
      if (server) return server.serve(method, params, served);
      if (method === 'shutdown') return {};
      opening ??= open();
      return opening.then((opened) => opened.serve(method, params, served));
    },
  });
}

/** Made for every call, so it holds no more than two references. */
class EngineCall implements ServedCall {
  readonly #call: IncomingCall;
  readonly #connection: FrameConnection | undefined;

  constructor(call: IncomingCall, connection: FrameConnection | undefined) {
    this.#call = call;
    this.#connection = connection;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  ask(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (!this.#connection) throw new StudioError('internal', 'a question before the connection');
    return this.#connection.call(method, params, { timeoutMs: askTimeoutMs, onBehalfOf: this.#call.callId });
  }
}

async function printManifest(args: HostArguments): Promise<void> {
  const { manifest } = await openNodeset(args);
  writeSync(1, `${JSON.stringify(manifestToWire(manifest), null, 2)}\n`);
}

function argumentsOf(commandLine: readonly string[]): HostArguments {
  const { values } = parseArgs({
    args: [...commandLine],
    options: {
      file: { type: 'string' },
      name: { type: 'string' },
      instance: { type: 'string' },
      'manifest-only': { type: 'boolean', default: false },
    },
  });
  if (values.file === undefined || values.name === undefined)
    throw new StudioError('invalid_input', 'give --file BUNDLE and --name NAME');
  return { file: values.file, name: values.name, manifestOnly: values['manifest-only'] };
}

/** Straight to the file: a stream's buffer would be lost with the process. */
function complain(error: unknown): void {
  writeSync(2, `${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}\n`);
}

function exitBecause(error: unknown, exitCode: number): never {
  complain(error);
  process.exit(exitCode);
}

// What a nodeset starts and does not await fails here too; its state can no longer be trusted.
process.on('uncaughtException', (error) => exitBecause(error, exitCodes.uncaught));

let args: HostArguments;
try {
  args = argumentsOf(process.argv.slice(2));
} catch (error) {
  exitBecause(error, exitCodes.usage);
}
try {
  await (args.manifestOnly ? printManifest(args) : serve(args));
} catch (error) {
  exitBecause(error, exitCodes.failed);
}
process.exit(0);
