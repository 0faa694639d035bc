// Two real ends of a real socket. Deadlines run on a fake clock.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StudioError } from '../base/errors.ts';
import { createFakeClock, type FakeClock } from '../base/fake-clock.ts';
import { Tensor } from '../base/tensor.ts';
import { connectFrames, formatAddress, listenForOne, parseAddress } from './frame-socket.ts';
import type { FrameConnection, IncomingCall } from './ports.ts';

let folder: string;
let clock: FakeClock;
let engine: FrameConnection;
let host: FrameConnection;
const patient = { timeoutMs: 60_000 };

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'acf-'));
  clock = createFakeClock();
  const listener = await listenForOne({ path: path.join(folder, 's') }, clock);
  engine = await connectFrames(listener.address, { clock });
  host = await listener.connection;
});

afterEach(() => {
  engine.close();
  host.close();
  rmSync(folder, { recursive: true });
});

describe('a frame connection', () => {
  it('answers many open calls in any order, in both directions at once', async () => {
    const held: (() => void)[] = [];
    host.serve((_method, params) => new Promise((resolve) => held.push(() => resolve(params))));
    engine.serve((method) => `engine saw ${method}`);
    const calls = [1, 2, 3].map((value) => engine.call('echo', { value }, patient));
    expect(await host.call('ask', null, patient)).toBe('engine saw ask');
    await until(() => held.length === 3);
    for (const answer of held.toReversed()) answer();
    expect(await Promise.all(calls)).toEqual([{ value: 1 }, { value: 2 }, { value: 3 }]);
  });

  it('carries arrays of every size exactly, and what one call brought is not changed by the next', async () => {
    host.serve((_method, params) => params);
    const kept: Tensor[] = [];
    for (const size of [0, 1, 1000, 40_000, 300_001, 3_000_000]) {
      const sent = new Tensor('uint8', [size], Buffer.alloc(size, size % 251));
      kept.push((await engine.call('echo', { sent }, patient).then(onlyMember)) as Tensor);
    }
    expect(kept.map(({ size, bytes }) => bytes.every((byte) => byte === size % 251))).toEqual(
      kept.map(() => true),
    );
  });

  it('rejects at the deadline, sends cancel, and drops and counts the late answer', async () => {
    const seen: IncomingCall[] = [];
    const held = Promise.withResolvers<string>();
    host.serve((_method, _params, call) => (call.callId === 1 ? (seen.push(call), held.promise) : 'next'));
    const call = engine.call('step', {}, { timeoutMs: 1000 });
    await until(() => seen.length === 1);
    const signal = seen[0]?.signal;
    const outcome = errorOf(call);
    await clock.advance(1000);
    expect(await outcome).toMatchObject({ code: 'timeout', message: 'no answer to step within 1 s' });
    expect(engine.counters).toMatchObject({ abandonedCalls: 1, lateAnswers: 0, pendingCalls: 0 });
    await until(() => signal?.aborted === true);
    held.resolve('too late');
    expect(await engine.call('step', {}, patient)).toBe('next');
    expect(engine.counters).toMatchObject({ abandonedCalls: 0, lateAnswers: 1 });
  });

  it('closes where a call that was given up, and its process left alone, would keep others waiting for ever', async () => {
    host.serve(() => new Promise(() => undefined));
    const leaving = new AbortController();
    const one = { timeoutMs: 1000, channel: 0, signal: leaving.signal };
    const left = errorOf(engine.call('initialize', {}, one));
    const waits = errorOf(engine.call('step', {}, { timeoutMs: 500, channel: 1 }));
    leaving.abort(new StudioError('aborted', 'stopped'));
    expect(await left).toMatchObject({ code: 'aborted' });
    await clock.advance(5_999);
    expect([engine.isClosed, engine.counters.pendingCalls]).toEqual([false, 1]);
    await clock.advance(1);
    expect(await waits).toMatchObject({ code: 'connection_closed' });
    expect(engine.line?.lastChannel).toBe(0);
  });

  it('gives the turn of a call that was given up before it was sent to the next one', async () => {
    host.serve(() => new Promise(() => undefined));
    const leaving = new AbortController();
    const large = new Tensor('uint8', [65 * 2 ** 20], Buffer.alloc(65 * 2 ** 20));
    const calls = [
      engine.call('step', { large }, { timeoutMs: 1000, channel: 0 }),
      engine.call('step', {}, { timeoutMs: 1000, channel: 1, signal: leaving.signal }),
      engine.call('step', {}, { timeoutMs: 1000, channel: 2 }),
    ].map((call) => errorOf(call));
    leaving.abort(new StudioError('aborted', 'stopped'));
    await clock.advance(1000);
    await clock.advance(900);
    expect(engine.line?.waitedMs(1, clock.monotonic())).toBe(0);
    engine.close();
    expect(await Promise.all(calls)).toMatchObject([
      { code: 'timeout' },
      { code: 'aborted' },
      { code: 'connection_closed' },
    ]);
  });

  it('keeps each deadline of many calls with one timer', async () => {
    host.serve(() => new Promise(() => {}));
    const ended: number[] = [];
    for (const timeoutMs of [3000, 1000, 2000])
      engine.call('x', {}, { timeoutMs }).catch(() => ended.push(timeoutMs));
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1500);
    expect(ended).toEqual([1000]);
    await clock.advance(1500);
    expect(ended).toEqual([1000, 2000, 3000]);
  });

  it('moves deadlines on when nothing ran for a while, as after a suspended machine', async () => {
    const sleepy = { ...clock, monotonic: () => clock.monotonic() + sleptMs };
    let sleptMs = 0;
    const listener = await listenForOne({ path: path.join(folder, 'sleepy') }, clock);
    await using sleeper = await connectFrames(listener.address, { clock: sleepy });
    let code = '';
    sleeper.call('x', {}, { timeoutMs: 8000 }).catch((error: StudioError) => (code = error.code));
    sleptMs = 3_600_000;
    await clock.advance(6000);
    expect(code).toBe('');
    await clock.advance(8000);
    expect(code).toBe('timeout');
  });

  it('ends the calls of an aborted signal only, and listens once per signal', async () => {
    const listeners = countListeners();
    const first = new AbortController();
    host.serve((method) => (method === 'hold' ? new Promise(() => {}) : 'ok'));
    for (let index = 0; index < 20; index++)
      await engine.call('quick', {}, { ...patient, signal: first.signal });
    expect(listeners.added).toBe(1);
    const held = engine.call('hold', {}, { ...patient, signal: first.signal });
    const other = engine.call('hold', {}, { timeoutMs: 500 });
    first.abort();
    await expect(held).rejects.toMatchObject({ code: 'aborted' });
    await expect(engine.call('quick', {}, { ...patient, signal: first.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(engine.counters.pendingCalls).toBe(1);
    const outcome = errorOf(other);
    await clock.advance(500);
    expect(await outcome).toMatchObject({ code: 'timeout' });
    listeners[Symbol.dispose]();
  });

  it('does not pin signals of episodes that are over', async () => {
    host.serve(() => 1);
    const controllers = Array.from({ length: 30 }, () => new AbortController());
    const listeners = countListeners();
    for (const { signal } of controllers) await engine.call('x', {}, { ...patient, signal });
    expect(listeners.added - listeners.removed).toBeLessThanOrEqual(5);
    engine.close();
    expect(listeners.added).toBe(listeners.removed);
    listeners[Symbol.dispose]();
  });

  it('rejects pending and later calls at once when the other side dies', async () => {
    host.serve(() => new Promise(() => {}));
    const pending = engine.call('hold', {}, patient);
    host.close();
    await expect(pending).rejects.toMatchObject({ code: 'connection_closed' });
    await expect(engine.call('more', {}, patient)).rejects.toMatchObject({ code: 'connection_closed' });
    expect((await engine.closed).code).toBe('connection_closed');
  });

  it('lets the host call back on behalf of an open call, with that call’s context, and not after it', async () => {
    engine.serve((method, params, call) => ({ method, params, grants: call.context }));
    const callIds: number[] = [];
    host.serve(async (_method, _params, call) => {
      callIds.push(call.callId);
      return host.call('container.read', { key: 1 }, { ...patient, onBehalfOf: call.callId });
    });
    const answer = await engine.call('node.forward', {}, { ...patient, context: ['memory'] });
    expect(answer).toEqual({ method: 'container.read', params: { key: 1 }, grants: ['memory'] });
    await expect(
      host.call('container.read', {}, { ...patient, onBehalfOf: callIds[0] }),
    ).rejects.toMatchObject({ code: 'conflict' });
  });

  it('carries errors with code, type and trace, and never lets the other side fake a state of ours', async () => {
    host.serve((method) => {
      if (method === 'own') throw new RangeError('index 7 of 3');
      if (method === 'typed') throw new StudioError('episode_unknown', 'no episode 9');
      if (method === 'fatal') throw new StudioError('fatal', 'CUDA is out of memory');
      throw new StudioError('aborted', 'says who');
    });
    await expect(engine.call('own', {}, patient)).rejects.toMatchObject({
      code: 'remote_error',
      message: 'index 7 of 3',
      details: { type: 'RangeError' },
    });
    await expect(engine.call('typed', {}, patient)).rejects.toMatchObject({ code: 'episode_unknown' });
    await expect(engine.call('fatal', {}, patient)).rejects.toMatchObject({
      code: 'fatal',
      details: { fatal: true },
    });
    await expect(engine.call('fake', {}, patient)).rejects.toMatchObject({
      code: 'remote_error',
      details: { remoteCode: 'aborted' },
    });
  });

  it('answers with an error when a result cannot be sent, and refuses such parameters before sending', async () => {
    host.serve(() => ({ callback: () => 1 }));
    await expect(engine.call('x', {}, patient)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(engine.call('x', { at: new Date() }, patient)).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(engine.counters.pendingCalls).toBe(0);
  });

  it('delivers notes in order and knows how long the other side was silent', async () => {
    const notes: unknown[] = [];
    engine.onNote((method, params) => notes.push([method, params]));
    await clock.advance(700);
    expect(engine.silentSinceMs()).toBe(700);
    host.note('progress', { stage: 'importing' });
    host.note('heartbeat', { rss: 5n });
    await until(() => notes.length === 2);
    expect(notes).toEqual([
      ['progress', { stage: 'importing' }],
      ['heartbeat', { rss: 5n }],
    ]);
    expect(engine.silentSinceMs()).toBe(0);
  });

  it('bounds what is unsent: notes are dropped and counted, calls wait and are then answered', async () => {
    host.serve((_method, params) => (params as Tensor).size);
    const large = new Tensor('uint8', [20_000_000], new Uint8Array(20_000_000));
    const calls = Array.from({ length: 6 }, () => engine.call('size', large, patient));
    engine.note('log', { message: 'lost' });
    expect(engine.counters.droppedNotes).toBe(1);
    expect(await Promise.all(calls)).toEqual(calls.map(() => 20_000_000));
  });

  it('reads arrays from shared memory slots, acknowledges each, and refuses slots that do not exist', async () => {
    const producer = createServer().listen(path.join(folder, 'raw'));
    const accepted = once(producer, 'connection');
    await using reader = await connectFrames({ path: path.join(folder, 'raw') }, { clock });
    const [socket] = (await accepted) as [Socket];
    let answered = '';
    socket.on('data', (chunk: Buffer) => (answered += chunk.toString('latin1')));
    const kept: Uint8Array[] = [];
    reader.attachSharedMemory(folder);
    reader.onNote((_method, params) => kept.push((params as Tensor).bytes));
    for (const byte of [5, 6]) {
      writeFileSync(path.join(folder, '2'), Buffer.alloc(400, byte));
      socket.write(frame('{"t":"note","m":"x","p":{"$h":2,"n":400,"d":"float32","s":[100]}}'));
      await until(() => kept.at(-1)?.[0] === byte);
    }
    await until(() => answered.split('"m":"ack","p":{"slot":2}').length === 3);
    expect(kept.map((bytes) => bytes[399])).toEqual([5, 6]);
    socket.write(frame('{"t":"note","m":"x","p":{"$h":4,"n":1,"d":"uint8","s":[1]}}'));
    expect((await reader.closed).code).toBe('protocol_error');
    producer.close();
  });

  it('accepts exactly one connection', async () => {
    await expect(connectFrames({ path: path.join(folder, 's') }, { clock })).rejects.toMatchObject({
      code: 'connection_closed',
    });
  });

  it('disposes only after what was written is sent', async () => {
    const notes: unknown[] = [];
    engine.onNote((_method, params) => notes.push(params));
    host.note('last', 'words');
    await host[Symbol.asyncDispose]();
    await engine.closed;
    expect(notes).toEqual(['words']);
  });
});

describe('a node that fires again', () => {
  it('is asked for in few words, and answered in few or in many', async () => {
    const listener = await listenForOne({ path: path.join(folder, 'again') }, clock);
    const raw = connect(path.join(folder, 'again'));
    const sent: string[] = [];
    raw.on('data', (chunk: Buffer) => sent.push(chunk.subarray(16).toString().trim()));
    await using caller = await listener.connection;
    expect(caller.takeHandle()).toBeUndefined();
    caller.allowFiringAgain();
    const handles = [caller.takeHandle(), caller.takeHandle()];
    expect(handles).toEqual([1, 2]);
    const firing = { handle: 2, step: 7, seed: 31, inputs: { action: -0 } };
    const short = caller.fireAgain(firing, patient);
    const long = caller.fireAgain({ ...firing, step: 8 }, patient);
    const refused = caller.fireAgain({ ...firing, step: 9 }, patient);
    await until(() => sent.join('').includes('[3,'));
    expect(sent.join('')).toContain('[1,2,7,31,{"action":{"$f":"-0"}}]');
    raw.write(frame('[1,{"done":false,"far":{"$f":"inf"}}]'));
    raw.write(frame('{"t":"ok","id":2,"r":{"outputs":{},"signals":["looked"]}}'));
    raw.write(frame('{"t":"err","id":3,"e":{"code":"remote_error","message":"no luck"}}'));
    expect(await short).toEqual({ outputs: { done: false, far: Infinity } });
    expect(await long).toEqual({ outputs: {}, signals: ['looked'] });
    await expect(refused).rejects.toThrow('no luck');
    raw.destroy();
  });

  it('is given up at its deadline like any call', async () => {
    const listener = await listenForOne({ path: path.join(folder, 'late') }, clock);
    const raw = connect(path.join(folder, 'late')).resume();
    await using caller = await listener.connection;
    const firing = caller.fireAgain({ handle: 1, step: 0, seed: 0, inputs: {} }, { timeoutMs: 50 });
    await clock.advance(60);
    await expect(firing).rejects.toMatchObject({ code: 'timeout' });
    raw.write(frame('[1,{}]'));
    await until(() => caller.counters.lateAnswers === 1);
    raw.destroy();
  });
});

describe('a peer that breaks the protocol', () => {
  const frames: [string, string][] = [
    ['an unknown kind', '{"t":"shout"}'],
    ['an answer to a call that was never made', '{"t":"ok","id":99,"r":1}'],
    ['a call without an id', '{"t":"call","m":"x","p":{}}'],
    ['a malformed cell', '{"t":"call","id":1,"m":"x","p":{"$f":"huge"}}'],
    ['a short answer to a firing that was never sent', '[99,{}]'],
    ['a list that is no short answer', '[1,2,3]'],
    ['a short answer without a number', '["1",{}]'],
  ];
  it.each(frames)('is cut off with protocol_error: %s', async (_name, header) => {
    const listener = await listenForOne({ path: path.join(folder, 'raw') }, clock);
    const raw = connect(path.join(folder, 'raw'));
    const served = await listener.connection;
    raw.write(frame(header));
    expect((await served.closed).code).toBe('protocol_error');
    await closeOf(raw);
  });

  it('is noticed when it ends in the middle of a frame', async () => {
    const listener = await listenForOne({ path: path.join(folder, 'raw') }, clock);
    const raw = connect(path.join(folder, 'raw'));
    const served = await listener.connection;
    raw.end(frame('{"t":"note","m":"x","p":1}').subarray(0, 20));
    expect((await served.closed).message).toContain('in the middle of a frame');
  });
});

describe('addresses', () => {
  it('are read and written in the form of the handshake', () => {
    for (const text of ['unix:/run/x y.sock', 'tcp:127.0.0.1:80', 'tcp:[::1]:4000'])
      expect(formatAddress(parseAddress(text))).toBe(text);
    expect(parseAddress('tcp:127.0.0.1')).toEqual({ host: '127.0.0.1', port: 0 });
    for (const text of ['', 'unix:', 'http://x', 'tcp:'])
      expect(() => parseAddress(text)).toThrow(/is no address/);
  });

  it('of TCP carry calls as well, on a port that the system picks', async () => {
    const listener = await listenForOne({ host: '127.0.0.1', port: 0 }, clock);
    await using client = await connectFrames(listener.address, { clock });
    (await listener.connection).serve((method) => method);
    expect(await client.call('hello', {}, patient)).toBe('hello');
  });
});

function frame(header: string): Buffer {
  const text = Buffer.from(header.padEnd(Math.ceil(header.length / 8) * 8));
  const prefix = Buffer.from('ACxxyyyyzzzz____', 'latin1');
  prefix.writeUInt16LE(1, 2);
  prefix.writeUInt32LE(text.length, 4);
  prefix.writeBigUInt64LE(0n, 8);
  return Buffer.concat([prefix, text]);
}

function closeOf(socket: Socket): Promise<unknown> {
  return new Promise((resolve) =>
    socket
      .resume()
      .on('error', () => {})
      .once('close', resolve),
  );
}

function onlyMember(value: unknown): unknown {
  return Object.values(value as object)[0];
}

/** Waits for real I/O; a condition that never comes true fails by the test's own time limit. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

interface ListenerCounts extends Disposable {
  readonly added: number;
  readonly removed: number;
}

function countListeners(): ListenerCounts {
  const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  const removed = vi.spyOn(AbortSignal.prototype, 'removeEventListener');
  return {
    get added() {
      return added.mock.calls.length;
    },
    get removed() {
      return removed.mock.calls.length;
    },
    [Symbol.dispose]: () => {
      added.mockRestore();
      removed.mockRestore();
    },
  };
}
