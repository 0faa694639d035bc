// Back-off, missed events, and the two error paths of the client.
import { describe, expect, it } from 'vitest';
import type { EventMessage } from '#contract/api.ts';
import { backoffMs } from './backoff.ts';
import { createClient } from './client.ts';
import type { ElectronBridge } from './electron-bridge.ts';
import { RequestError } from './request-error.ts';
import { SequenceWatch } from './sequence-watch.ts';
import { createElectronTransport } from './transports/electron.ts';

const event = (sequence: number): EventMessage => ({ sequence, name: 'graphs.changed', payload: {} });

describe('reconnecting', () => {
  it('doubles the wait up to a bound and spreads it', () => {
    expect([1, 2, 3, 6, 60].map((attempt) => backoffMs(attempt, 0))).toEqual([
      500, 1000, 2000, 10_000, 10_000,
    ]);
    expect(backoffMs(1, 0.999)).toBeGreaterThanOrEqual(400);
  });

  it('notices missed events and a restarted engine by the numbers', () => {
    const watch = new SequenceWatch();
    expect([7, 8, 8, 7, 10, 11].map((sequence) => watch.see(sequence))).toEqual([
      'deliver',
      'deliver',
      'duplicate',
      'duplicate',
      'gap',
      'deliver',
    ]);
    expect(watch.see(1, true)).toBe('gap');
    watch.startAt(20);
    expect(watch.see(21)).toBe('deliver');
    expect(watch.see(23)).toBe('gap');
  });
});

describe('client over the preload bridge', () => {
  const bridgeOf = (
    invoke: ElectronBridge['invoke'],
  ): ElectronBridge & { send(message: EventMessage): void } => {
    let deliver: (message: EventMessage) => void = () => undefined;
    return {
      invoke,
      onMessage(listener) {
        deliver = listener;
        return () => undefined;
      },
      send: (message) => deliver(message),
    };
  };

  it('turns a failed reply into an error with its code', async () => {
    const client = createClient(
      createElectronTransport(
        bridgeOf(async () => ({
          ok: false,
          error: { code: 'guard_busy', message: 'Busy.', scope: {}, details: { holder: 'x' } },
        })),
      ),
    );
    const failure = await client.request('guard.get', {}).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(RequestError);
    expect(failure).toMatchObject({ code: 'guard_busy', message: 'Busy.', details: { holder: 'x' } });
  });

  it('reports a broken bridge as a closed connection and an aborted request as aborted', async () => {
    const transport = createElectronTransport(bridgeOf(async () => Promise.reject(new Error('gone'))));
    expect(await transport.request('guard.get', {})).toMatchObject({
      ok: false,
      error: { code: 'connection_closed' },
    });
    expect(await transport.request('guard.get', {}, AbortSignal.abort())).toMatchObject({
      ok: false,
      error: { code: 'aborted' },
    });
  });

  it('asks for snapshots when events were missed and still delivers the next one', () => {
    const bridge = bridgeOf(async () => Promise.reject(new Error('unused')));
    const seen: number[] = [];
    let gaps = 0;
    createElectronTransport(bridge).subscribe(
      (message) => seen.push(message.sequence),
      () => (gaps += 1),
    );
    for (const sequence of [3, 4, 9, 9, 10]) bridge.send(event(sequence));
    expect(seen).toEqual([3, 4, 9, 10]);
    expect(gaps).toBe(1);
  });
});
