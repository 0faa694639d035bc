import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../base/fake-clock.ts';
import { StudioError } from '../base/errors.ts';
import { isPacked, withdraw, type PackedHost } from '../process/packed-host.ts';
import type { ExitInfo, FrameConnection, HostProcess, ManagedProcess } from '../process/ports.ts';
import { PackedProcesses, packedPlace } from './packed-processes.ts';

const clock = createFakeClock();

interface FakeHost extends HostProcess {
  readonly end: (lastChannel?: number) => void;
  readonly asked: string[];
}

/** A host whose end the test decides. */
function fakeHost(): FakeHost {
  const exited = Promise.withResolvers<ExitInfo>();
  const closed = Promise.withResolvers<StudioError>();
  const asked: string[] = [];
  const killed: ExitInfo = { exitCode: null, signal: 'SIGKILL' };
  const state = {
    isClosed: false,
    exitInfo: undefined as ExitInfo | undefined,
    last: undefined as number | undefined,
  };
  const end = (last = state.last): void => {
    Object.assign(state, { isClosed: true, exitInfo: killed, last });
    closed.resolve(new StudioError('connection_closed', 'ended'));
    exited.resolve(killed);
  };
  const connection = {
    closed: closed.promise,
    get isClosed() {
      return state.isClosed;
    },
    get line() {
      return { lastChannel: state.last, waitedMs: (channel: number) => channel * 10 };
    },
  } as unknown as FrameConnection;
  const process = {
    exited: exited.promise,
    get exitInfo() {
      return state.exitInfo;
    },
  } as unknown as ManagedProcess;
  const ending = (how: string) => (): Promise<ExitInfo> => {
    asked.push(how);
    end();
    return exited.promise;
  };
  return {
    connection,
    process,
    heartbeatRssBytes: 900,
    death: () => Promise.resolve(new StudioError('process_died', 'ended')),
    stop: ending('stop'),
    kill: ending('kill'),
    [Symbol.asyncDispose]: () => Promise.resolve(),
    end,
    asked,
  };
}

const placeOf = (slot: number): NonNullable<ReturnType<typeof packedPlace>> => {
  const place = packedPlace('env', slot, { workerCount: 3, envsPerProcess: 3 });
  if (!place) throw new Error('not packed');
  return place;
};

function packed(host: HostProcess): PackedHost {
  if (!isPacked(host)) throw new Error('not a part');
  return host;
}

describe('places in shared processes', () => {
  it('are even shares', () => {
    const pack = { workerCount: 5, envsPerProcess: 4 };
    expect([0, 1, 2, 3, 4].map((slot) => packedPlace('env', slot, pack))).toEqual([
      { group: 0, channel: 0, channelCount: 3, label: 'env#0+2+4' },
      { group: 1, channel: 0, channelCount: 2, label: 'env#1+3' },
      { group: 0, channel: 1, channelCount: 3, label: 'env#0+2+4' },
      { group: 1, channel: 1, channelCount: 2, label: 'env#1+3' },
      { group: 0, channel: 2, channelCount: 3, label: 'env#0+2+4' },
    ]);
  });

  it('are none where a process would have one environment, and for workers beyond the planned ones', () => {
    expect(packedPlace('env', 2, { workerCount: 3, envsPerProcess: 2 })).toMatchObject({ label: 'env#0+2' });
    expect(packedPlace('env', 1, { workerCount: 3, envsPerProcess: 2 })).toBeUndefined();
    expect(packedPlace('env', 3, { workerCount: 3, envsPerProcess: 3 })).toBeUndefined();
  });
});

describe('shared processes', () => {
  it('are started once for all who come', async () => {
    const processes = new PackedProcesses(clock);
    const hosts: FakeHost[] = [];
    const launch = (): Promise<HostProcess> => {
      const host = fakeHost();
      hosts.push(host);
      return Promise.resolve(host);
    };
    const parts = await Promise.all(
      [0, 1, 2].map((slot) => processes.join(placeOf(slot), launch, undefined)),
    );
    expect(hosts).toHaveLength(1);
    expect(parts.map((part) => part.heartbeatRssBytes)).toEqual([300, 300, 300]);
    expect(parts.map((part) => packed(part).waitedMs())).toEqual([0, 10, 20]);
  });

  it('end for all when one kills them, by its doing, and the next one to come starts another', async () => {
    const processes = new PackedProcesses(clock);
    const hosts: FakeHost[] = [];
    const launch = (): Promise<HostProcess> =>
      Promise.resolve(hosts[hosts.push(fakeHost()) - 1] ?? fakeHost());
    const [one, other] = await Promise.all(
      [0, 1].map((slot) => processes.join(placeOf(slot), launch, undefined)),
    );
    if (!one || !other) throw new Error('not started');
    await one.kill();
    expect([packed(one).endedByMate(), packed(other).endedByMate()]).toEqual([false, true]);
    await processes.join(placeOf(1), launch, undefined);
    expect(hosts).toHaveLength(2);
  });

  it('are put down to the one whose call ran last when they end by themselves', async () => {
    const processes = new PackedProcesses(clock);
    const host = fakeHost();
    const join = (slot: number): Promise<HostProcess> =>
      processes.join(placeOf(slot), () => Promise.resolve(host), undefined);
    const parts = [await join(0), await join(1), await join(2)];
    host.end(1);
    await Promise.all([host.process.exited, host.connection.closed]);
    expect(parts.map((part) => packed(part).endedByMate())).toEqual([true, false, true]);
  });

  it('go on when one withdraws from them, with whom nothing was wrong', async () => {
    const processes = new PackedProcesses(clock);
    const host = fakeHost();
    const join = (slot: number): Promise<HostProcess> =>
      processes.join(placeOf(slot), () => Promise.resolve(host), undefined);
    const [one, other] = [await join(0), await join(1)];
    await withdraw(one);
    expect([host.asked, packed(other).endedByMate()]).toEqual([[], false]);
    await withdraw(other);
    expect(host.asked).toEqual(['stop']);
    const alone = fakeHost();
    await withdraw(alone);
    expect(alone.asked).toEqual(['kill']);
  });

  it('are asked to end by the last who leaves, and take nobody once one has left', async () => {
    const processes = new PackedProcesses(clock);
    const hosts: FakeHost[] = [];
    const launch = (): Promise<HostProcess> =>
      Promise.resolve(hosts[hosts.push(fakeHost()) - 1] ?? fakeHost());
    const join = (slot: number): Promise<HostProcess> => processes.join(placeOf(slot), launch, undefined);
    const [one, other] = [await join(0), await join(1)];
    await one.stop();
    expect(hosts[0]?.asked).toEqual([]);
    await join(0);
    expect(hosts).toHaveLength(2);
    await other.stop();
    expect([hosts[0]?.asked, hosts[1]?.asked]).toEqual([['stop'], []]);
  });

  it('are started anew for those who waited when the one who started them gave up, and not for itself', async () => {
    const processes = new PackedProcesses(clock);
    const gaveUp = new AbortController();
    const first = Promise.withResolvers<HostProcess>();
    const starter = processes.join(placeOf(0), () => first.promise, gaveUp.signal);
    const waiting = processes.join(placeOf(1), () => Promise.resolve(fakeHost()), undefined);
    gaveUp.abort(new StudioError('aborted', 'stopped'));
    first.reject(new StudioError('aborted', 'stopped'));
    await expect(starter).rejects.toMatchObject({ code: 'aborted' });
    expect(packed(await waiting).channel).toBe(1);
  });

  it('are ended when whoever started them gave up before joining, and nobody else waited', async () => {
    const processes = new PackedProcesses(clock);
    const gaveUp = new AbortController();
    const host = fakeHost();
    const launch = (): Promise<HostProcess> => {
      gaveUp.abort(new StudioError('aborted', 'stopped'));
      return Promise.resolve(host);
    };
    await expect(processes.join(placeOf(0), launch, gaveUp.signal)).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(host.asked).toEqual(['kill']);
  });

  it('are not asked for again by whoever was refused one as aborted itself', async () => {
    const closing = (): Promise<HostProcess> => Promise.reject(new StudioError('aborted', 'closing'));
    const refused = new PackedProcesses(clock).join(placeOf(0), closing, undefined);
    await expect(refused).rejects.toMatchObject({ code: 'aborted' });
  });

  it('are not killed by one who has left while others are in it, and by the last one after all', async () => {
    const processes = new PackedProcesses(clock);
    const host = fakeHost();
    const join = (slot: number): Promise<HostProcess> =>
      processes.join(placeOf(slot), () => Promise.resolve(host), undefined);
    const [one, other] = [await join(0), await join(1)];
    await one.stop();
    await one.kill();
    expect(host.asked).toEqual([]);
    await other.stop();
    await other.kill();
    expect(host.asked).toEqual(['stop', 'kill']);
  });

  it('that cannot be started say so to all who wait, and are tried again by the next', async () => {
    const processes = new PackedProcesses(clock);
    const failing = (): Promise<HostProcess> => Promise.reject(new StudioError('spawn_failed', 'no memory'));
    const starts = [0, 1].map((slot) => processes.join(placeOf(slot), failing, undefined));
    for (const start of starts) await expect(start).rejects.toMatchObject({ code: 'spawn_failed' });
    const again = processes.join(placeOf(0), () => Promise.resolve(fakeHost()), undefined);
    expect(packed(await again).channel).toBe(0);
  });
});
