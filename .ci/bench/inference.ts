// The batched inference tier beside what one would do without it: samples per second, latency and memory of closed-loop
// callers on a small recurrent policy and on a convolutional network of ResNet-18's size. `--quick`: fewer, shorter windows;
// `--busy`: rounds in which others used the machine count too (then only ratios mean something).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import * as onnx from 'onnxruntime-node';
import { systemClock } from '../../main/base/clock.ts';
import { Tensor } from '../../main/base/tensor.ts';
import type { BatchingConfig } from '../../main/contract/eval-config.ts';
import type { NodeType, PortValues } from '../../main/graph/ports.ts';
import { BatchedInferenceServer } from '../../main/inference/inference-server.ts';
import { ModelHost, type ModelHostPorts } from '../../main/inference/onnx/model-host.ts';
import { PolicyNodes, policyNodeType } from '../../main/inference/onnx/policy-node.ts';
import { convolutionalPolicy, recurrentPolicy } from '../../main/inference/testing/sample-models.ts';
import { engineLayout } from '../../main/layout.ts';
import type { BatchBackend } from '../../main/nodeset/ports.ts';
import { createProcessRegistry } from '../../main/process/process-registry.ts';
import { drive, timerOnly, type Driven, type Timed } from './closed-loop.ts';
import { startServingPeers, type ServingPeer } from './inference/serving-peers.ts';
import { median, root, saveResult, takeTurns, type Contender, type Measured } from './harness.ts';

const python = process.env['BENCH_PYTHON'] ?? 'python3';
const isQuick = process.argv.includes('--quick');
const turns = {
  rounds: isQuick ? 5 : 9,
  windowMs: isQuick ? 250 : 500,
  ...(process.argv.includes('--busy') && { foreignShareLimit: 2 }),
};
const scratch = mkdtempSync(path.join(os.tmpdir(), 'bench-'));
const layout = engineLayout(new URL('../../main/layout.ts', import.meta.url).href);
const greedy: BatchingConfig = { flushPolicy: 'greedy', flushTimeoutMs: 50 };
const rendezvous: BatchingConfig = { flushPolicy: 'rendezvous', flushTimeoutMs: 50 };

interface Subject {
  readonly name: string;
  readonly config: PortValues;
  readonly inputs: (caller: number) => PortValues;
  readonly feeds: (batch: number) => Record<string, onnx.Tensor>;
}

const sizes = { observation: 128, hidden: 512, actions: 4 };
const imageSize = 224;
const subjects: readonly Subject[] = [
  {
    name: 'recurrent policy, GRU of 512',
    config: {
      model: 'gru.onnx',
      inputs: { observation: {} },
      hidden: { h_in: 'h_out' },
      action: { output: 'logits' },
      threads: 1,
    },
    inputs: (caller) => ({
      observation: Tensor.of('float32', [128], new Float32Array(128).fill(caller / 16)),
    }),
    feeds: (batch) => ({
      observation: new onnx.Tensor('float32', new Float32Array(batch * 128), [batch, 128]),
      h_in: new onnx.Tensor('float32', new Float32Array(batch * 512), [batch, 512]),
    }),
  },
  {
    name: `convolutional network, ResNet-18, ${imageSize} x ${imageSize}`,
    config: { model: 'resnet.onnx', inputs: { rgb: {} }, action: { output: 'logits' }, threads: 1 },
    inputs: (caller) => ({
      rgb: Tensor.of('uint8', [imageSize, imageSize, 3], new Uint8Array(imageSize ** 2 * 3).fill(caller)),
    }),
    feeds: (batch) => ({
      rgb: new onnx.Tensor('uint8', new Uint8Array(batch * imageSize ** 2 * 3), [
        batch,
        imageSize,
        imageSize,
        3,
      ]),
    }),
  },
];
writeFileSync(path.join(scratch, 'gru.onnx'), recurrentPolicy(sizes));
writeFileSync(path.join(scratch, 'resnet.onnx'), convolutionalPolicy(imageSize, 4));

await using processes = await createProcessRegistry({ clock: systemClock, reaperEntry: layout.reaper });

const hostPorts: ModelHostPorts = {
  clock: systemClock,
  program: layout.modelHost,
  startHost: (start) => processes.startHost(start),
  idleMs: 3_600_000,
};

function createNodes(): PolicyNodes {
  return new PolicyNodes({ models: { library: scratch, workspace: scratch }, host: hostPorts, cores: 1 });
}

function parts(nodes: PolicyNodes): { readonly nodeType: NodeType; readonly backend: BatchBackend } {
  const [nodeType, backend] = [nodes.lookup(policyNodeType), nodes.batchBackend(policyNodeType)];
  if (!nodeType || !backend) throw new Error(`${policyNodeType} is missing`);
  return { nodeType, backend };
}

async function rawRun(subject: Subject, batch: number): Promise<Timed> {
  const session = await onnx.InferenceSession.create(path.join(scratch, String(subject.config['model'])), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  const feeds = subject.feeds(batch);
  const latenciesMs: number[] = [];
  return {
    name: `raw run of batch ${batch}`,
    latenciesMs,
    rssMb: () => null,
    async work(windowMs) {
      const untilMs = performance.now() + windowMs;
      let samples = 0;
      while (performance.now() < untilMs) {
        const startMs = performance.now();
        await session.run(feeds);
        latenciesMs.push(performance.now() - startMs);
        samples += batch;
      }
      return samples;
    },
  };
}

interface Bench extends AsyncDisposable {
  readonly contenders: (callers: number) => Promise<readonly Timed[]>;
  readonly tier: (batching: BatchingConfig, callers: number, more?: Partial<Driven>) => Timed;
}

async function openBench(subject: Subject, peers: readonly ServingPeer[]): Promise<Bench> {
  const stack = new AsyncDisposableStack();
  const shared = stack.use(createNodes());
  const { nodeType, backend } = parts(shared);
  const own: PolicyNodes[] = [];
  const tier = (batching: BatchingConfig, callers: number, more: Partial<Driven> = {}): Timed => {
    const server = stack.use(new BatchedInferenceServer({ clock: systemClock, batching }));
    const wrapped = server.wrap(nodeType, backend);
    const handlers = Array.from({ length: callers }, () => wrapped.bind('policy', { ...subject.config }));
    return drive({
      name: `tier, ${batching.flushPolicy}`,
      handlers,
      inputs: subject.inputs,
      pids: () => shared.pids,
      ...more,
    });
  };
  return {
    tier,
    async contenders(callers) {
      while (own.length < callers) own.push(stack.use(createNodes()));
      const alone = own.slice(0, callers);
      const timerConfig = { ...subject.config };
      return [
        await rawRun(subject, callers),
        drive({
          name: 'one session per caller',
          handlers: alone.map((nodes) => parts(nodes).nodeType.bind('policy', { ...subject.config })),
          inputs: subject.inputs,
          pids: () => alone.flatMap((nodes) => nodes.pids),
        }),
        drive({
          name: 'timer only, 50 ms',
          handlers: timerOnly(backend, timerConfig)(callers),
          inputs: subject.inputs,
          pids: () => shared.pids,
        }),
        tier(rendezvous, callers),
        tier(greedy, callers),
        ...peers.map((peer) => peer.contender(callers)),
      ];
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

interface Row {
  readonly name: string;
  readonly samplesPerSecond: number;
  readonly toRaw: number;
  /** Of all processes of the contender. */
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rssMb: number | null;
  readonly rounds: number;
}

/** Median of the ratios round by round where every round counted, else the ratio of medians. */
function ratio(measured: Measured, reference: Measured): number {
  if (measured.rates.length !== reference.rates.length) return measured.rate / reference.rate;
  return median(measured.rates.map((rate, round) => rate / (reference.rates[round] ?? Number.NaN)));
}

async function compare(contenders: readonly Timed[]): Promise<Row[]> {
  const measured = await takeTurns(contenders, turns);
  const [reference] = measured;
  return contenders.flatMap(({ name, latenciesMs, rssMb }, index) => {
    const own = measured[index];
    if (!own || !reference) return [];
    const sorted = latenciesMs.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
    return [
      {
        name,
        samplesPerSecond: own.rate,
        toRaw: ratio(own, reference),
        cpuUs: own.cpuUs,
        p50Ms: at(0.5),
        p99Ms: at(0.99),
        rssMb: rssMb(),
        rounds: own.rounds,
      },
    ];
  });
}

function print(title: string, rows: readonly Row[]): void {
  console.log(`\n${title}`);
  console.log(
    `  ${'contender'.padEnd(26)}${'samples/s'.padStart(11)}${'to first'.padStart(10)}${'cpu µs'.padStart(9)}${'p50 ms'.padStart(10)}${'p99 ms'.padStart(10)}${'model MB'.padStart(10)}  rounds`,
  );
  for (const row of rows)
    console.log(
      `  ${row.name.padEnd(26)}${row.samplesPerSecond.toFixed(0).padStart(11)}${row.toRaw.toFixed(2).padStart(10)}${row.cpuUs.toFixed(0).padStart(9)}${row.p50Ms.toFixed(2).padStart(10)}${row.p99Ms.toFixed(2).padStart(10)}${(row.rssMb?.toFixed(0) ?? '-').padStart(10)}  ${row.rounds}`,
    );
}

/** What the tier adds to a forward pass, beside a ping through the same program, connection and process priority. */
async function bareSession(subject: Subject, bench: Bench): Promise<object> {
  const file = path.join(scratch, String(subject.config['model']));
  await using host = new ModelHost(hostPorts, { file, provider: 'cpu', threads: 1 });
  const raw = await rawRun(subject, 1);
  const tier = bench.tier(greedy, 1);
  const pingsMs: number[] = [];
  const control: Contender = {
    name: 'bare ping',
    async work(windowMs) {
      const untilMs = performance.now() + windowMs;
      let pings = 0;
      for (; performance.now() < untilMs; pings++) {
        const startMs = performance.now();
        await host.call('ping', {}, { timeoutMs: 10_000 });
        pingsMs.push(performance.now() - startMs);
      }
      return pings;
    },
  };
  await takeTurns([raw, tier, control], turns);
  const [rawMs, tierMs, pingMs] = [raw.latenciesMs, tier.latenciesMs, pingsMs].map((each) =>
    median(each),
  ) as [number, number, number];
  const addedPings = (tierMs - rawMs) / pingMs;
  console.log(
    `\nOne caller, medians: bare session ${(rawMs * 1000).toFixed(0)} µs, tier ${(tierMs * 1000).toFixed(0)} µs, ping of the transport ${(pingMs * 1000).toFixed(0)} µs: the tier adds ${addedPings.toFixed(1)} pings`,
  );
  return { rawMs, tierMs, pingMs, addedPings };
}

/** How long the engine's thread was held, beside a thread that does nothing. */
async function threadHeld(bench: Bench): Promise<object> {
  const watch = async (work: () => Promise<unknown>): Promise<number> => {
    const histogram = monitorEventLoopDelay({ resolution: 1 });
    histogram.enable();
    await work();
    histogram.disable();
    return histogram.max / 1e6;
  };
  const busy = bench.tier(greedy, 8);
  const emptyMs = await watch(() => delay(2_000));
  const busyMs = await watch(() => busy.work(2_000));
  console.log(
    `\nLongest delay of the engine's event loop with 8 callers on the large model: ${busyMs.toFixed(1)} ms; idle control ${emptyMs.toFixed(1)} ms`,
  );
  return { busyMs, emptyMs };
}

const results: Record<string, unknown> = {};
for (const subject of subjects) {
  // JSON is for the small policy: the images of the other would only measure the parsing of numbers.
  const peers =
    subject === subjects[0] ? await startServingPeers(python, path.join(scratch, 'gru.onnx')) : [];
  await using serving = new AsyncDisposableStack();
  for (const peer of peers) serving.use(peer);
  await using bench = await openBench(subject, peers);
  const counts = isQuick ? [1, 8] : [1, 4, 8, 16];
  const cells: Record<string, Row[]> = {};
  for (const callers of counts) {
    const rows = await compare(await bench.contenders(callers));
    print(`${subject.name}, ${callers} caller${callers > 1 ? 's' : ''}`, rows);
    cells[callers] = rows;
  }
  results[subject.name] = cells;
  if (subject === subjects[0]) {
    results['one caller'] = await bareSession(subject, bench);
    const thinking = await compare([
      bench.tier(rendezvous, 8, { thinkMs: 5 }),
      bench.tier(greedy, 8, { thinkMs: 5 }),
    ]);
    print('8 callers that think 5 ms on average', thinking);
    results['thinking 5 ms'] = thinking;
    const stalled = await compare([
      bench.tier(greedy, 7, { name: 'greedy, 7 callers' }),
      bench.tier(greedy, 8, { name: 'greedy, 8 with 1 stalled', stalled: 1 }),
      bench.tier(rendezvous, 8, { name: 'rendezvous, 1 stalled', stalled: 1 }),
    ]);
    print('One of eight callers stalled', stalled);
    results['one stalled'] = stalled;
  } else results['thread'] = await threadHeld(bench);
}
saveResult('inference', results);
rmSync(scratch, { recursive: true, force: true });
console.log(`\nWritten to ${path.relative(root, path.join(root, 'bench-results/inference.json'))}`);
