// The control of the overhead benchmark: the smallest exchange over the same kind of socket between two Node processes.
// Run as a program with a path it answers; imported it asks.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const requestBytes = 160;

if (import.meta.main) {
  const server = createServer((socket) => {
    socket.on('data', (chunk) => socket.write(chunk));
    socket.on('error', () => socket.destroy());
    // Its only connection: also when the one who asks was killed.
    socket.once('close', () => process.exit());
  });
  server.listen(process.argv[2], () => process.stdout.write('ready\n'));
}

export interface RawPing extends Disposable {
  readonly pid: number;
  ping(): Promise<void>;
}

export async function startRawPing(socketPath: string): Promise<RawPing> {
  const child: ChildProcess = spawn(process.execPath, [self, socketPath], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout ?? child, 'data');
  let settle: () => void = () => {};
  let received = 0;
  const socket = connect({
    path: socketPath,
    onread: {
      buffer: Buffer.allocUnsafeSlow(65_536),
      callback: (bytes) => {
        received += bytes;
        if (received < requestBytes) return true;
        received = 0;
        settle();
        return true;
      },
    },
  });
  await once(socket, 'connect');
  const request = Buffer.alloc(requestBytes, 65);
  return {
    pid: child.pid ?? 0,
    ping() {
      socket.write(request);
      return new Promise((resolve) => (settle = resolve));
    },
    [Symbol.dispose]: () => {
      socket.destroy();
      child.kill('SIGKILL');
    },
  };
}
