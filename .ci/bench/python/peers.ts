// The contenders beside this product: the bare environment, Gymnasium's vector environments, and the design of the
// seeds (one FastAPI server per environment, called in parallel over kept connections, without any graph).
import { Agent, request } from 'node:http';
import { createHash } from 'node:crypto';
import type { Contender } from '../harness.ts';
import type { ActionTable, Environment } from './actions.ts';
import { startLineChild, type LineChild } from './line-child.ts';

export interface Checked {
  /** SHA-256 of all observations of each environment. */
  readonly hashes: readonly string[];
  readonly returns: readonly number[];
}

export interface Peer extends Contender, AsyncDisposable {
  check(steps: number, firstSeed: number): Promise<Checked>;
}

export interface Cell {
  readonly python: string;
  readonly environment: Environment;
  readonly count: number;
  readonly actionsFile: string;
  readonly table: ActionTable;
}

export type VectorKind = 'raw' | 'sync' | 'async';

export async function startVector(name: string, kind: VectorKind, cell: Cell): Promise<Peer> {
  const { python, environment, count, actionsFile } = cell;
  const args = ['vector_contender.py', kind, environment.id, String(count), actionsFile];
  const child = await startLineChild(python, args);
  const workers = numbersOf(child.hello['pids']);
  return {
    name,
    pids: () => [child.pid, ...workers],
    work: async (windowMs) => Number((await child.ask(`work ${windowMs}`))['steps']),
    check: async (steps, firstSeed) => {
      const { hashes, returns } = await child.ask(`check ${steps} ${firstSeed}`);
      return { hashes: Array.isArray(hashes) ? hashes.map(String) : [], returns: numbersOf(returns) };
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

export async function startFastApi(cell: Cell): Promise<Peer> {
  const { python, environment, count, table } = cell;
  const children = await Promise.all(
    Array.from({ length: count }, () => startLineChild(python, ['fastapi_contender.py', environment.id])),
  );
  const servers = children.map((child, slot) => new Server(child, table.slots[slot] ?? []));
  return {
    name: 'FastAPI, JSON, base64',
    pids: () => children.map(({ pid }) => pid),
    work: async (windowMs) => {
      const untilMs = performance.now() + windowMs;
      const done = await Promise.all(servers.map((server) => server.workUntil(untilMs)));
      return done.reduce((sum, steps) => sum + steps, 0);
    },
    check: async (steps, firstSeed) => {
      const checked = await Promise.all(servers.map((server, slot) => server.check(steps, firstSeed + slot)));
      return { hashes: checked.map(({ hash }) => hash), returns: checked.map(({ total }) => total) };
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.close();
      await Promise.all(children.map((child) => child[Symbol.asyncDispose]()));
    },
  };
}

class Server {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;
  readonly #actions: readonly (number | object)[];
  #done = 0;

  constructor(child: LineChild, actions: readonly (number | readonly number[])[]) {
    this.#port = Number(child.hello['port']);
    this.#actions = actions.map((action) => (typeof action === 'number' ? action : arrayForm(action)));
  }

  async workUntil(untilMs: number): Promise<number> {
    const before = this.#done;
    while (performance.now() < untilMs) await this.#step(this.#done++);
    return this.#done - before;
  }

  async check(steps: number, seed: number): Promise<{ hash: string; total: number }> {
    const hash = createHash('sha256');
    let total = 0;
    await this.#call('reset', { seed });
    for (let step = 0; step < steps; step++) {
      const { observation, reward } = await this.#step(step);
      hash.update(observation);
      total += reward;
    }
    return { hash: hash.digest('hex'), total };
  }

  /** Decodes the observation, as its user would. */
  async #step(step: number): Promise<{ observation: Buffer; reward: number }> {
    const answer = await this.#call('step', { action: this.#actions[step % this.#actions.length] });
    const { observation, reward } = answer as { observation: { __ndarray__: string }; reward: number };
    return { observation: Buffer.from(observation.__ndarray__, 'base64'), reward };
  }

  #call(name: string, inputs: object): Promise<unknown> {
    const body = JSON.stringify({ inputs });
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const options = { port: this.#port, host: '127.0.0.1', path: `/call/${name}`, method: 'POST' };
      request({ ...options, agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`${name} was answered with ${response.statusCode}: ${text.slice(0, 200)}`));
        });
      })
        .on('error', reject)
        .end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function arrayForm(numbers: readonly number[]): object {
  const data = Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
  return { __ndarray__: data, dtype: 'float32', shape: [numbers.length] };
}

function numbersOf(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}
