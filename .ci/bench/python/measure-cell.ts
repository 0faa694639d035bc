// One cell of the Python benchmark, an environment and a number of them: starts every contender, checks that all see the
// same, lets them take turns and prints the table with the goals.
import path from 'node:path';
import type { NodesetLayer } from '../../../main/nodeset-layer.ts';
import { medianOfRounds, takeTurns, verdict, type Contender, type Measured } from '../harness.ts';
import type { RawPing } from '../raw-ping.ts';
import { writeActions, type Environment } from './actions.ts';
import { startFastApi, startVector, type Cell, type Peer } from './peers.ts';
import { startStudio } from './studio-contender.ts';

const names = {
  raw: 'bare environment, one process',
  sync: 'SyncVectorEnv',
  async: 'AsyncVectorEnv',
  fastApi: 'FastAPI, JSON, base64',
  studio: 'AgentCanvas, a process each',
  packed: 'AgentCanvas, two processes',
  ping: 'control: bare ping',
};
/** Environments are shared out over so many processes, where that is fewer than one each. */
const packedProcesses = Number(process.env['BENCH_PACKED_PROCESSES'] ?? 2);
const firstSeed = 1000;
/** Rounds kept beyond it are for trying out: no verdict. */
const mostForeignShare = 0.15;

export interface Place {
  readonly layer: NodesetLayer;
  readonly ping: RawPing;
  readonly environment: Environment;
  readonly count: number;
  readonly python: string;
  readonly hasFastApi: boolean;
  readonly scratch: string;
  readonly rounds: number;
  readonly windowMs: number;
  readonly foreignShareLimit: number;
}

export async function measureCell(place: Place): Promise<object> {
  const { layer, ping, environment, count, python, scratch } = place;
  const actionsFile = path.join(scratch, `${environment.title.replaceAll('/', '-')}-${count}.json`);
  const table = writeActions(actionsFile, environment, count);
  const cell: Cell = { python, environment, count, actionsFile, table };
  await using peers = new Peers();
  await peers.add(startVector(names.raw, 'raw', cell));
  await peers.add(startVector(names.sync, 'sync', cell));
  await peers.add(startVector(names.async, 'async', cell));
  if (place.hasFastApi) await peers.add(startFastApi(cell));
  await peers.add(startStudio(layer.registry, cell, { name: names.studio, envsPerProcess: 1 }));
  const envsPerProcess = Math.ceil(count / packedProcesses);
  if (envsPerProcess > 1)
    await peers.add(startStudio(layer.registry, cell, { name: names.packed, envsPerProcess }));
  await checkAgreement(peers.list, environment);
  const measured = await takeTurns([pingContender(ping), ...peers.list], place);
  return reportCell(place, measured);
}

class Peers implements AsyncDisposable {
  readonly list: Peer[] = [];

  async add(starting: Promise<Peer>): Promise<void> {
    this.list.push(await starting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.list.map((peer) => peer[Symbol.asyncDispose]()));
  }
}

function pingContender(ping: RawPing): Contender {
  return {
    name: names.ping,
    pids: () => [ping.pid],
    work: async (forMs) => {
      const untilMs = performance.now() + forMs;
      let pings = 0;
      for (; performance.now() < untilMs; pings++) await ping.ping();
      return pings;
    },
  };
}

/** Throws when a contender saw other observations or rewards than the first; the bare one has one environment only. */
async function checkAgreement(peers: readonly Peer[], environment: Environment): Promise<void> {
  const checked = await Promise.all(
    peers.map(async (peer) => ({
      name: peer.name,
      ...(await peer.check(environment.checkSteps, firstSeed)),
    })),
  );
  const reference = checked.find(({ name }) => name === names.sync);
  for (const { name, hashes, returns } of checked) {
    const agrees = hashes.every(
      (hash, slot) => hash === reference?.hashes[slot] && returns[slot] === reference.returns[slot],
    );
    if (hashes.length === 0 || !agrees)
      throw new Error(`${name} saw another ${environment.title} than ${names.sync}: the benchmark is wrong`);
  }
}

function reportCell({ environment, count, foreignShareLimit }: Place, measured: readonly Measured[]): object {
  const isQuiet = foreignShareLimit <= mostForeignShare;
  const of = (name: string): Measured | undefined => measured.find((entry) => entry.name === name);
  const [studio, peer, raw] = [of(names.studio), of(names.async), of(names.raw)];
  if (!studio || !peer || !raw) throw new Error('not measured');
  console.log(`\n${environment.title}, N = ${count}`);
  console.table(
    measured.map((entry) => ({
      '': entry.name,
      'steps/s': Math.round(entry.rate),
      'best steps/s': Math.round(entry.best),
      'x AsyncVectorEnv': round(
        medianOfRounds([entry, peer], (one, other) => one.rate / other.rate),
        2,
      ),
      'CPU µs a step': round(entry.cpuUs, 1),
      'used by others': `${Math.round(entry.foreignShare * 100)} %`,
      rounds: entry.rounds,
    })),
  );
  const goals = goalsOf({ environment, count, studio, peer, raw, fastApi: of(names.fastApi) }, isQuiet);
  console.table(goals);
  return { environment: environment.title, count, contenders: measured, goals };
}

interface Compared {
  readonly environment: Environment;
  readonly count: number;
  readonly studio: Measured;
  readonly peer: Measured;
  readonly raw: Measured;
  readonly fastApi: Measured | undefined;
}

function goalsOf(
  { environment, count, studio, peer, raw, fastApi }: Compared,
  isQuiet: boolean,
): readonly object[] {
  const goals = [
    {
      what: 'steps/s, times AsyncVectorEnv',
      ratio: medianOfRounds([studio, peer], (one, other) => one.rate / other.rate),
      atLeast: count === 1 ? environment.goals.asyncOfOne : environment.goals.asyncOfMany,
      of: [studio, peer],
    },
    {
      what: 'CPU above the bare environment, share of AsyncVectorEnv',
      ratio: (studio.cpuUs - raw.cpuUs) / (peer.cpuUs - raw.cpuUs),
      atMost: 0.55,
      of: [studio, peer, raw],
    },
    ...(fastApi
      ? [
          {
            what: 'steps/s, times the FastAPI design',
            ratio: medianOfRounds([studio, fastApi], (one, other) => one.rate / other.rate),
            atLeast: environment.goals.fastApi,
            of: [studio, fastApi],
          },
        ]
      : []),
  ];
  return goals.map(({ what, ratio, of, ...limit }) => {
    const [goal, holds] =
      'atMost' in limit && limit.atMost !== undefined
        ? [`<= ${limit.atMost}`, ratio <= limit.atMost]
        : [`>= ${limit.atLeast}`, ratio >= (limit.atLeast ?? Infinity)];
    return { what, ratio: round(ratio, 2), goal, verdict: isQuiet ? verdict(of, holds) : 'noisy' };
  });
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
