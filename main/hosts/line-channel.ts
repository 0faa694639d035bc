// One JSON value per line over a socket, both ways. Lines are bounded; a peer that sends anything else is cut off.
import type { Socket } from 'node:net';

const maxLineBytes = 64 * 2 ** 20;

export interface LineChannel {
  send(value: unknown): void;
  /** Bytes written and not yet taken by the other side. */
  readonly waitingBytes: number;
  /** Called whenever the other side has taken all of it. */
  onDrain(listener: () => void): void;
  close(): void;
}

export interface LineChannelOptions {
  readonly onValue: (value: unknown) => void;
  readonly onClose: () => void;
}

export function openLineChannel(socket: Socket, { onValue, onClose }: LineChannelOptions): LineChannel {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (line: string): void => {
    try {
      onValue(JSON.parse(line));
    } catch {
      socket.destroy();
    }
  };
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && !socket.destroyed; end = rest.indexOf(10)) {
      parts.push(rest.subarray(0, end));
      take(Buffer.concat(parts).toString('utf8'));
      parts = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
    }
    parts.push(rest);
    bytes += rest.length;
    if (bytes > maxLineBytes) socket.destroy();
  });
  socket.on('error', () => socket.destroy());
  socket.once('close', onClose);
  return {
    send: (value) => void socket.write(`${JSON.stringify(value)}\n`),
    get waitingBytes() {
      return socket.writableLength;
    },
    onDrain: (listener) => void socket.on('drain', listener),
    close: () => void socket.destroy(),
  };
}
