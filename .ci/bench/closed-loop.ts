// Callers in a closed loop, for the inference benchmark: each asks again when it was answered, and its waits are kept.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { FiringContext, NodeHandler, PortValues } from '../../main/graph/ports.ts';
import type { BatchBackend } from '../../main/nodeset/ports.ts';
import type { Contender } from './harness.ts';

export interface Timed extends Contender {
  readonly latenciesMs: number[];
  /** Of the processes that run the model. */
  readonly rssMb: () => number | null;
}

export interface Driven {
  readonly name: string;
  readonly handlers: readonly NodeHandler[];
  readonly inputs: (caller: number) => PortValues;
  readonly pids: () => readonly number[];
  /** Mean of what a caller does between its calls: exponential, as environments differ. */
  readonly thinkMs?: number;
  /** Callers that ask once per window and then stall. */
  readonly stalled?: number;
}

/** Callers in a closed loop: each asks again when it was answered. */
export function drive({ name, handlers, inputs, pids, thinkMs = 0, stalled = 0 }: Driven): Timed {
  const latenciesMs: number[] = [];
  const contexts = handlers.map((_, caller) => contextOf(caller));
  const loop = async (caller: number, untilMs: number): Promise<number> => {
    const [handler, context] = [handlers[caller], contexts[caller]];
    if (!handler || !context) return 0;
    let hidden: unknown = null;
    let calls = 0;
    while (performance.now() < untilMs) {
      const startMs = performance.now();
      const outputs = (await handler.forward(
        { ...inputs(caller), hidden_in: hidden },
        context,
      )) as PortValues;
      hidden = outputs['hidden_out'];
      latenciesMs.push(performance.now() - startMs);
      calls++;
      if (caller < stalled) await delay(Math.max(0, untilMs - performance.now()));
      else if (thinkMs > 0) await delay(-Math.log(1 - Math.random()) * thinkMs);
    }
    return calls;
  };
  return {
    name,
    latenciesMs,
    pids,
    rssMb: () => residentMb(pids()),
    async work(windowMs) {
      const untilMs = performance.now() + windowMs;
      const counts = await Promise.all(handlers.map((_, caller) => loop(caller, untilMs)));
      for (const [caller, handler] of handlers.entries()) handler.end?.(`caller${caller}`);
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

function residentMb(pids: readonly number[]): number | null {
  if (process.platform !== 'linux' || pids.length === 0) return null;
  const kb = pids.map((pid) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0),
  );
  return kb.reduce((sum, each) => sum + each, 0) / 1024;
}

function contextOf(caller: number): FiringContext {
  return {
    executionId: `caller${caller}`,
    nodeId: 'policy',
    step: 0,
    seed: 0,
    signal: new AbortController().signal,
    state: new Map(),
    containers: { granted: [], read: () => undefined, write: () => undefined, evict: () => undefined },
    log: () => undefined,
    emitSignal: () => undefined,
  };
}

/** What one finds in many servers: a batch every 50 ms after its first sample, whoever waits. */
export function timerOnly(backend: BatchBackend, config: PortValues): (callers: number) => NodeHandler[] {
  return (callers) => {
    let waiting: { readonly sample: PortValues; readonly resolve: (answer: PortValues) => void }[] = [];
    const signal = new AbortController().signal;
    const flush = async (): Promise<void> => {
      const batch = waiting;
      waiting = [];
      const answers = await backend.call(
        batch.map(({ sample }) => sample),
        config,
        signal,
      );
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] ?? {});
    };
    return Array.from({ length: callers }, () => {
      const side = backend.callerSide?.('policy', config);
      return {
        async forward(inputs: PortValues, context: FiringContext) {
          const sample = side?.sampleOf(inputs, context) ?? inputs;
          const answer = await new Promise<PortValues>((resolve) => {
            waiting.push({ sample, resolve });
            if (waiting.length === 1) setTimeout(() => void flush(), 50);
          });
          return side?.outputsOf(answer, context) ?? answer;
        },
      };
    });
  };
}
