// Benchmark (node main/process/frame.bench.ts): p50 of a bare ping through a child over a raw socket beside the same
// payload through a frame connection. The two take turns, so that both see the same machine.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../base/clock.ts';
import { Tensor } from '../base/tensor.ts';
import { connectFrames, listenForOne } from './frame-socket.ts';

const self = fileURLToPath(import.meta.url);
const payloads = [32, 100_000, 900_000];
const rounds = 9;

if (process.argv[2] === 'child') await serve(process.argv[3] ?? '');
else await measure();

async function serve(folder: string): Promise<void> {
  for (const payload of payloads) {
    const reply = Buffer.alloc(payload, 1);
    const server = createServer((socket) => {
      server.close();
      socket.on('data', () => socket.write(reply));
      socket.on('error', () => socket.destroy());
    });
    server.listen(path.join(folder, `raw-${payload}`));
  }
  const listener = await listenForOne({ path: path.join(folder, 'framed') }, systemClock);
  process.stdout.write('ready\n');
  const connection = await listener.connection;
  const replies = new Map(
    payloads.map((payload) => [payload, new Tensor('uint8', [payload], Buffer.alloc(payload, 1))]),
  );
  connection.serve((method, params) => {
    if (method === 'ping') return params;
    return { outputs: { rgb: replies.get(Number(method)), reward: 0.5, done: false } };
  });
  await connection.closed;
}

interface Cell {
  readonly name: string;
  readonly ping: () => Promise<unknown>;
  readonly samplesUs: number[][];
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'acb-'));
  const child = spawn(process.execPath, [self, 'child', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const framed = await connectFrames({ path: path.join(folder, 'framed') }, { clock: systemClock });
  const options = { timeoutMs: 60_000, signal: new AbortController().signal };
  const raw = await Promise.all(
    payloads.map((payload) => rawPing(path.join(folder, `raw-${payload}`), payload)),
  );
  const params = { type: 'env_step', node: 'step', exec: 'e1', step: 12, seed: 1, inputs: { action: 2 } };
  const cells: Cell[] = payloads.flatMap((payload, index) => [
    { name: `raw socket, ${payload} B`, ping: raw[index]?.ping ?? fail, samplesUs: [] },
    {
      name: `frame call, ${payload} B array`,
      ping: () => framed.call(String(payload), params, options),
      samplesUs: [],
    },
  ]);
  cells.push({
    name: 'frame call, small values',
    ping: () => framed.call('ping', params, options),
    samplesUs: [],
  });
  for (let round = 0; round <= rounds; round++) for (const cell of cells) await oneRound(cell, round > 0);
  report(cells);
  await framed[Symbol.asyncDispose]();
  for (const ping of raw) ping.socket.destroy();
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
}

async function oneRound(cell: Cell, counts: boolean): Promise<void> {
  const untilMs = performance.now() + (counts ? 250 : 100);
  const samples: number[] = [];
  while (performance.now() < untilMs) {
    const startMs = performance.now();
    await cell.ping();
    samples.push((performance.now() - startMs) * 1000);
  }
  if (counts) cell.samplesUs.push(samples);
}

function rawPing(
  socketPath: string,
  payload: number,
): Promise<{ readonly ping: () => Promise<void>; readonly socket: Socket }> {
  const request = Buffer.alloc(160, 65);
  let received = 0;
  let done: () => void = ignore;
  return new Promise((resolve) => {
    const socket = connect({
      path: socketPath,
      onread: {
        buffer: Buffer.allocUnsafeSlow(128 * 1024),
        callback: (byteCount) => {
          received += byteCount;
          if (received === payload) done();
          return true;
        },
      },
    });
    const ping = (): Promise<void> => {
      received = 0;
      socket.write(request);
      return new Promise((settle) => (done = settle));
    };
    socket.once('connect', () => resolve({ ping, socket: socket.resume() }));
  });
}

function report(cells: readonly Cell[]): void {
  const rows = cells.map((cell) => {
    const medians = cell.samplesUs.map((samples) => quantile(samples, 0.5));
    const all = cell.samplesUs.flat();
    return {
      cell: cell.name,
      'p50 µs': round(quantile(medians, 0.5)),
      'best p50 µs': round(Math.min(...medians)),
      'p95 µs': round(quantile(all, 0.95)),
    };
  });
  console.table(rows);
}

function quantile(values: readonly number[], q: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * q)] ?? Number.NaN;
}

function round(us: number): number {
  return Math.round(us * 10) / 10;
}

function fail(): Promise<never> {
  return Promise.reject(new Error('no such cell'));
}

function ignore(): void {}
