// A second process and the owner of the workspace: same contract, over a private socket.
import { connect } from 'node:net';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { createFakeEngine } from './testing/fake-engine.ts';
import { connectToOwner, ownerSocketPath, serveOwnerSocket } from './owner-socket.ts';
import type { EventMessage } from '../contract/api.ts';

const somePath = (): string => ownerSocketPath(`/tmp/${randomUUID()}`);

it('answers requests and forwards events', async () => {
  const engine = createFakeEngine({ 'guard.get': async () => ({ holder: null }) });
  const socketPath = somePath();
  await using _server = await serveOwnerSocket(engine, socketPath, 'secret');
  using owner = await connectToOwner(socketPath, 'secret');
  expect(await owner.request('guard.get', {})).toEqual({ ok: true, value: { holder: null } });
  expect(await owner.request('runs.stop', { runId: 'x' })).toMatchObject({
    ok: false,
    error: { code: 'unsupported' },
  });
  const seen = new Promise<EventMessage>((resolve) => owner.subscribe(resolve, () => {}));
  await owner.request('guard.get', {});
  engine.feed.publish('run.deleted', { runId: 'r1' });
  expect(await seen).toMatchObject({ name: 'run.deleted', payload: { runId: 'r1' } });
});

it('aborts the request on the other side when the caller gives up', async () => {
  let aborted: () => void = () => {};
  const seen = new Promise<void>((resolve) => (aborted = resolve));
  const engine = createFakeEngine({
    'doctor.run': (_input, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => (aborted(), reject(new Error('stopped')))),
      ),
  });
  const socketPath = somePath();
  await using _server = await serveOwnerSocket(engine, socketPath, 'secret');
  using owner = await connectToOwner(socketPath, 'secret');
  const abort = new AbortController();
  const reply = owner.request('doctor.run', {}, abort.signal);
  await new Promise((resolve) => setTimeout(resolve, 50));
  abort.abort();
  await seen;
  expect(await reply).toMatchObject({ ok: false });
});

it('is reachable by this user only, and gives nothing to a peer without the secret', async () => {
  const engine = createFakeEngine({ 'guard.get': async () => ({ holder: null }) });
  const socketPath = somePath();
  await using _server = await serveOwnerSocket(engine, socketPath, 'secret');
  expect(((await stat(path.dirname(socketPath))).mode & 0o777).toString(8)).toBe('700');
  for (const first of [
    '{"secret":"wrong"}\n',
    '{"id":1,"name":"guard.get","input":{}}\n',
    'junk\n',
    '{"secret":"secret"}\njunk\n',
  ]) {
    const received = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(socketPath, () => socket.write(first));
      socket.on('data', (chunk) => (text += chunk.toString())).once('close', () => resolve(text));
    });
    expect(received).toBe('');
  }
  expect(engine.reached).toEqual([]);
});

it('tells waiting callers when the owner ends, and new ones that nobody answers', async () => {
  const engine = createFakeEngine({ 'doctor.run': () => new Promise(() => {}) });
  const socketPath = somePath();
  const server = await serveOwnerSocket(engine, socketPath, 'secret');
  using owner = await connectToOwner(socketPath, 'secret');
  const reply = owner.request('doctor.run', {});
  await new Promise((resolve) => setTimeout(resolve, 30));
  await server[Symbol.asyncDispose]();
  expect(await reply).toMatchObject({ ok: false, error: { code: 'connection_closed' } });
  await expect(connectToOwner(socketPath, 'secret', 500)).rejects.toMatchObject({ code: 'workspace_busy' });
});

it('tells a peer that fell behind of the gap once it reads again, also when nothing more happens', async () => {
  const engine = createFakeEngine();
  const socketPath = somePath();
  await using _server = await serveOwnerSocket(engine, socketPath, 'secret');
  const socket = connect(socketPath);
  let text = '';
  const gap = new Promise<string>((resolve) => {
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-200);
      const found = /\{"gap":\d+\}\n/.exec(text);
      if (found) resolve(found[0]);
    });
  });
  socket.write('{"secret":"secret"}\n{"subscribe":true}\n');
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.pause();
  const message = 'x'.repeat(2 ** 20);
  for (let sent = 0; sent < 12; sent++)
    engine.feed.publish('notice', { level: 'info', message, runId: null });
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.resume();
  expect(await gap).toBe(`{"gap":${engine.feed.sequence}}\n`);
  socket.destroy();
});
