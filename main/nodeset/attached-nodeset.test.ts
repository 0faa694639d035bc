import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { Tensor } from '../base/tensor.ts';
import type { BatchBackend } from './ports.ts';
import { toJsonForm } from './hosts/http/json-values.ts';
import { unpackMessage } from './hosts/http/msgpack.ts';
import { createPythonBench, fire, type PythonBench } from './testing/python-bench.ts';
import { pythonFolder, pythonInterpreter } from './testing/test-registry.ts';

const interpreter = pythonInterpreter();
const sample = path.join(pythonFolder, 'tests/nodesets/sample.py');
const hasDoor = existsSync(interpreter) && existsSync(sample);
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function attached(url: string, name: string, tokenEnv = ''): Promise<PythonBench> {
  const bench = await createPythonBench({}, { attachments: [{ name, url, tokenEnv }] });
  cleanups.push(async () => await bench[Symbol.asyncDispose]());
  await bench.registry.scan();
  return bench;
}

describe.skipIf(!hasDoor)('a server of the app’s own Python host, attached by its URL', () => {
  async function startDoor(): Promise<{ readonly url: string; readonly child: ChildProcess }> {
    const child = spawn(
      interpreter,
      [
        '-m',
        'agentcanvas_host',
        '--file',
        sample,
        '--class',
        'SampleNodeSet',
        '--http',
        '0',
        '--token',
        'secret',
      ],
      { env: { ...process.env, PYTHONPATH: pythonFolder }, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    cleanups.push(() => void child.kill('SIGKILL'));
    for await (const line of createInterface({ input: child.stdout }))
      if (line.startsWith('{')) return { url: (JSON.parse(line) as { listening: string }).listening, child };
    throw new Error('the door did not open');
  }

  it('serves nodes, arrays, errors, batches and its panel, and lives on when it is let go', async () => {
    const { url, child } = await startDoor();
    process.env['AC_TEST_TOKEN'] = 'secret';
    const { registry } = await attached(url, 'sample', 'AC_TEST_TOKEN');
    expect(registry.list()).toMatchObject([
      { name: 'sample', origin: 'attached', mode: 'attached', state: 'found', source: url, processes: [] },
    ]);
    await expect(registry.nameOfServer({ url, tokenEnv: 'AC_TEST_TOKEN' })).resolves.toBe('sample');
    const backends = new Map<string, BatchBackend>();
    await registry.load('sample');
    await using session = await registry.ensureNodesetsForGraph(['sample'], {
      replicaCount: 1,
      batching: {
        wrap: (nodeType, backend) => (backends.set(nodeType.manifest.nodeType, backend), nodeType),
      },
    });
    expect(session.report.alreadyLoaded).toEqual(['sample']);
    const [set] = session.initial;
    expect(set?.pids).toEqual([]);

    const tensor = new Tensor(
      'float32',
      [2, 2],
      new Uint8Array(new Float32Array([1, 2, 3, Number.NaN]).buffer),
    );
    const back = await fire(set, 'sample__echo', { value: { deep: [tensor, 2, -0.5, 'ü', null] } });
    const [array, ...rest] = (back['value'] as { deep: unknown[] }).deep;
    expect(rest).toEqual([2, -0.5, 'ü', null]);
    expect((array as Tensor).bytes).toEqual(tensor.bytes);
    await expect(fire(set, 'sample__trouble', { kind: 'raise' })).rejects.toMatchObject({
      code: 'remote_error',
      message: 'no luck',
      scope: { nodePath: 'n1' },
    });
    await expect(fire(set, 'sample__memory', {}, { granted: ['plan'] })).rejects.toThrow(
      /cannot reach the graph's containers \(plan\)/,
    );
    const policy = backends.get('sample__policy');
    const outputs = await policy?.call(
      [{ x: 1 }, { x: 2 }, { x: 3 }],
      { scale: 10 },
      new AbortController().signal,
    );
    expect(outputs).toEqual([{ y: 10 }, { y: 20 }, { y: 30 }]);

    const panel = set?.panel('sample');
    expect(await panel?.info()).toMatchObject({
      fields: [{ name: 'split', kind: 'select' }, { kind: 'number' }],
    });
    expect(await panel?.changeField('episode_index', 2)).toMatchObject({
      values: { split: 'train', episode_index: 2 },
      currentEpisode: { episodeId: '2', sceneId: 'house' },
    });
    expect(await panel?.act('play', {})).toMatchObject({ episodeCount: 3, values: { episode_index: 2 } });
    expect(await panel?.act('fly', {})).toMatchObject({ error: expect.stringContaining('fly') as string });
    expect(await session.evalMetadata('sample')).toMatchObject({ splits: ['train'] });

    await session[Symbol.asyncDispose]();
    await registry.unload('sample');
    expect(child.exitCode).toBeNull();
    await expect(registry.nameOfServer({ url, tokenEnv: 'AC_TEST_TOKEN' })).resolves.toBe('sample');
  });

  it('serves one worker, and refuses more with the reason', async () => {
    const { url } = await startDoor();
    process.env['AC_TEST_TOKEN'] = 'secret';
    const { registry } = await attached(url, 'sample', 'AC_TEST_TOKEN');
    await expect(registry.ensureNodesetsForGraph(['sample'], { replicaCount: 2 })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/attached at http.*serves one worker, not 2/) as string,
    });
  });

  it('may have another name here, which its node types then begin with', async () => {
    const { url } = await startDoor();
    process.env['AC_TEST_TOKEN'] = 'secret';
    const { registry } = await attached(url, 'far', 'AC_TEST_TOKEN');
    await using session = await registry.ensureNodesetsForGraph(['far'], { replicaCount: 1 });
    expect(await fire(session.initial[0], 'far__echo', { value: 1 })).toMatchObject({
      value: 1,
      type: 'int',
    });
  });

  it('is refused without its token, and the message says how to give it', async () => {
    const { url } = await startDoor();
    const without = await attached(url, 'sample');
    expect(without.registry.list()).toMatchObject([
      { state: 'failed', errorCode: 'unauthorized', error: expect.stringContaining('--token-env') as string },
    ]);
    const unset = await attached(url, 'sample', 'AC_TEST_UNSET');
    expect(unset.registry.list()[0]?.error).toContain('the environment variable AC_TEST_UNSET');
  });
});

describe('a server that speaks AgentCanvas’s contract', () => {
  interface Seen {
    readonly route: string;
    readonly type: string;
    readonly body: unknown;
  }

  /** As AgentCanvas's own servers answer; `packed: false` stands for one without MessagePack installed. */
  async function startFake({ packed }: { readonly packed: boolean }): Promise<{ url: string; seen: Seen[] }> {
    const seen: Seen[] = [];
    const manifest = {
      name: 'far',
      version: '1.0',
      description: 'A server',
      functions: [
        {
          name: 'far__double',
          description: 'Doubles',
          input_ports: [{ name: 'x', wire_type: 'ANY', description: '', optional: false }],
          output_ports: [{ name: 'y', wire_type: 'ANY', description: '', optional: false }],
          config_schema: {},
          ui_config: {
            config_fields: [{ name: 'k', field_type: 'slider', min: 0, max: null, options: null }],
          },
        },
      ],
      containers: [],
    };
    const server = http.createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const bytes = Buffer.concat(parts);
        const type = request.headers['content-type'] ?? '';
        const isPacked = type.includes('msgpack');
        const body =
          bytes.length === 0
            ? null
            : isPacked
              ? unpackMessage(bytes)
              : (JSON.parse(String(bytes)) as unknown);
        seen.push({ route: request.url ?? '', type, body });
        const answer = (status: number, value: unknown): void => {
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(JSON.stringify(toJsonForm(value)));
        };
        if (request.url === '/manifest') return answer(200, manifest);
        if (request.url === '/health') return answer(200, { status: 'ok' });
        if (request.url !== '/call/far__double') return answer(404, { detail: 'Not Found' });
        if (isPacked && !packed) {
          response.writeHead(500, { 'content-type': 'text/plain' });
          return void response.end('Internal Server Error');
        }
        const { x } = (body as { inputs: { x: unknown } }).inputs;
        if (x === 'boom') return answer(500, { detail: 'the simulator is gone' });
        if (x === 'hang') return;
        answer(200, { outputs: { y: x } });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => (server.closeAllConnections(), void server.close()));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
  }

  it('is described by its functions, called in MessagePack, and falls back to JSON where that is missing', async () => {
    for (const packed of [true, false]) {
      const { url, seen } = await startFake({ packed });
      const { registry } = await attached(url, 'far');
      expect(registry.manifest('far')).toMatchObject({
        hasEnvPanel: false,
        parallelism: 'shared',
        nodes: [
          { nodeType: 'far__double', uiConfig: { configFields: [{ name: 'k', kind: 'slider', min: 0 }] } },
        ],
      });
      await using session = await registry.ensureNodesetsForGraph(['far'], { replicaCount: 3 });
      expect(await fire(session.initial[0], 'far__double', { x: { deep: [1] } })).toEqual({
        y: { deep: [1] },
      });
      const array = new Tensor('uint8', [2], Uint8Array.of(1, 2));
      const { y } = await fire(session.initial[2], 'far__double', { x: array });
      expect((y as Tensor).bytes).toEqual(array.bytes);
      const calls = seen.filter(({ route }) => route.startsWith('/call'));
      const types = calls.map(({ type }) => type);
      expect(types).toEqual(
        packed
          ? ['application/msgpack', 'application/msgpack']
          : ['application/msgpack', 'application/json', 'application/json'],
      );
      expect(calls[0]?.body).toMatchObject({
        inputs: { x: { deep: [1] } },
        config: {},
        _exec: { execution_id: 'execution-1' },
      });
    }
  });

  it('that fails, hangs or is gone gives a typed error with the place', async () => {
    const { url } = await startFake({ packed: true });
    const { registry } = await attached(url, 'far');
    await using session = await registry.ensureNodesetsForGraph(['far'], { replicaCount: 1 });
    const [set] = session.initial;
    await expect(fire(set, 'far__double', { x: 'boom' })).rejects.toMatchObject({
      code: 'remote_error',
      message: 'the simulator is gone',
    });
    const stop = new AbortController();
    const hanging = fire(set, 'far__double', { x: 'hang' }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await expect(hanging).rejects.toMatchObject({ code: 'aborted' });
    await cleanups.pop()?.();
    await cleanups.pop()?.();
    await expect(fire(set, 'far__double', { x: 1 })).rejects.toMatchObject({
      code: 'connection_closed',
      message: expect.stringContaining('check that the server runs') as string,
    });
  });

  it('that is no nodeset server is refused with what was there', async () => {
    const server = http.createServer((_request, response) => response.end('<html>hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => void server.close());
    const { registry } = await attached(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'page');
    expect(registry.list()[0]?.error).toMatch(/<html>hello; is it a nodeset server\?/);
  });
});
