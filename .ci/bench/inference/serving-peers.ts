// What serves models elsewhere, as contenders of the inference benchmark: FastAPI with JSON and Ray Serve, each in
// processes of its own, called over kept connections. Those whose packages are missing are left out and said so.
import { execFileSync } from 'node:child_process';
import { Agent, request } from 'node:http';
import { drive, type Timed } from '../closed-loop.ts';
import type { NodeHandler, PortValues } from '../../../main/graph/ports.ts';
import { startLineChild, type LineChild } from '../python/line-child.ts';

export interface ServingPeer extends AsyncDisposable {
  readonly name: string;
  contender(callers: number): Timed;
}

const programs = [
  { name: 'FastAPI, JSON', program: 'fastapi_endpoint.py', modules: ['fastapi', 'uvicorn', 'onnxruntime'] },
  { name: 'Ray Serve', program: 'ray_serve_endpoint.py', modules: ['ray.serve', 'onnxruntime'] },
];
const hiddenSize = 512;

/** The peers that start with this interpreter; `file` is a model with observation, h_in, logits and h_out. */
export async function startServingPeers(python: string, file: string): Promise<readonly ServingPeer[]> {
  const peers: ServingPeer[] = [];
  for (const { name, program, modules } of programs) {
    const missing = modules.filter((module) => !isImportable(python, module));
    if (missing.length > 0) {
      console.log(`${name} is left out: ${python} lacks ${missing.join(', ')} (BENCH_PYTHON names another).`);
      continue;
    }
    const child = await startLineChild(python, [`../inference/${program}`, file]);
    peers.push(peerOf(`${name} ${String(child.hello['version'])}`, child));
  }
  return peers;
}

function isImportable(python: string, module: string): boolean {
  try {
    execFileSync(python, ['-c', `import ${module}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function peerOf(name: string, child: LineChild): ServingPeer {
  const agent = new Agent({ keepAlive: true });
  const port = Number(child.hello['port']);
  return {
    name,
    contender: (callers) =>
      drive({
        name,
        handlers: Array.from({ length: callers }, () => handlerOf(agent, port)),
        inputs: (caller) => ({ observation: Array.from({ length: 128 }, () => caller / 16) }),
        pids: () => [child.pid],
      }),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await child[Symbol.asyncDispose]();
    },
  };
}

function handlerOf(agent: Agent, port: number): NodeHandler {
  return {
    async forward(inputs) {
      const hidden = inputs['hidden_in'] ?? Array.from({ length: hiddenSize }, () => 0);
      const answer = await post(agent, port, { observation: inputs['observation'], h_in: hidden });
      return { action: answer['logits'], hidden_out: answer['h_out'] };
    },
  };
}

function post(agent: Agent, port: number, sample: object): Promise<PortValues> {
  const body = Buffer.from(JSON.stringify(sample));
  const headers = { 'content-type': 'application/json', 'content-length': body.byteLength };
  return new Promise((resolve, reject) => {
    const sent = request(
      { agent, port, host: '127.0.0.1', path: '/act', method: 'POST', headers },
      (reply) => {
        const parts: Buffer[] = [];
        reply.on('data', (part: Buffer) => parts.push(part));
        reply.once('error', reject);
        reply.once('end', () => {
          const text = Buffer.concat(parts).toString();
          if (reply.statusCode !== 200)
            return reject(new Error(`status ${reply.statusCode}: ${text.slice(0, 200)}`));
          resolve(JSON.parse(text) as PortValues);
        });
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}
