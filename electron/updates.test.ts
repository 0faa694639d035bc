// Updates against a recording updater: where they are off, that a run holds them back, and that nothing installs
// itself.
import { EventEmitter } from 'node:events';
import os from 'node:os';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../main/base/fake-clock.ts';
import { EventFeed } from '../main/event-feed.ts';
import { FakeElectron } from './testing/fake-electron.ts';
import {
  checkIntervalMs,
  decideUpdate,
  quietAfterRunMs,
  startUpdates,
  type Build,
  type Updater,
} from './updates.ts';

/** Like electron-updater: events first, then the promise; errors both ways. */
class FakeUpdater extends EventEmitter implements Updater {
  readonly calls: string[] = [];
  offered: string | null = '2.0.0';
  failure: Error | null = null;
  async checkForUpdates(): Promise<void> {
    this.#call('check');
    if (this.offered !== null) this.emit('update-available', { version: this.offered });
  }
  async downloadUpdate(): Promise<void> {
    this.#call('download');
    this.emit('update-downloaded', { version: this.offered });
  }
  quitAndInstall(): void {
    this.calls.push('install');
  }
  #call(name: string): void {
    this.calls.push(name);
    if (!this.failure) return;
    this.emit('error', this.failure);
    throw this.failure;
  }
}

const signedBuild: Build = { packaged: true, signed: true, platform: 'win32' };
let electron: FakeElectron;
let updater: FakeUpdater;
let clock: FakeClock;
let feed: EventFeed;
let run: string | null;
let errors: unknown[];

beforeEach(() => {
  electron = new FakeElectron(os.tmpdir());
  updater = new FakeUpdater();
  clock = createFakeClock();
  feed = new EventFeed(clock);
  run = null;
  errors = [];
});

async function start(build: Build = signedBuild, load = async (): Promise<Updater> => updater) {
  const started = await startUpdates({
    build,
    loadUpdater: load,
    clock,
    feed,
    dialog: electron.api.dialog,
    window: () => null,
    activeRun: () => run,
    logError: (error) => void errors.push(error),
  });
  await clock.advance(0);
  return started;
}

async function changeRun(label: string | null): Promise<void> {
  run = label;
  const holder = label === null ? null : { kind: 'eval' as const, id: label, label, sinceMs: 0 };
  feed.publish('guard.changed', { holder });
  await clock.advance(quietAfterRunMs);
}

describe('the decision', () => {
  it.each<[string, Build]>([
    ['a checkout', { ...signedBuild, packaged: false }],
    ['an unsigned build', { ...signedBuild, signed: false }],
    ['a system that does not verify the signature', { ...signedBuild, platform: 'linux' }],
  ])('is never in %s, and the updater is not even loaded', async (_name, build) => {
    let loads = 0;
    await start(build, async () => {
      loads += 1;
      return updater;
    });
    await clock.advance(2 * checkIntervalMs);
    expect([decideUpdate(build, null), decideUpdate(build, 'a run')]).toEqual(['never', 'never']);
    expect([loads, updater.calls, clock.pendingTimers]).toEqual([0, [], 0]);
  });

  it('is now without a run and later with one, on Windows and macOS', () => {
    for (const platform of ['win32', 'darwin'] as const)
      expect([
        decideUpdate({ ...signedBuild, platform }, null),
        decideUpdate({ ...signedBuild, platform }, 'a run'),
      ]).toEqual(['now', 'after_run']);
  });
});

describe('a signed installation', () => {
  it('checks at the start and every six hours', async () => {
    updater.offered = null;
    await start();
    expect(updater.calls).toEqual(['check']);
    await clock.advance(checkIntervalMs - 1);
    expect(updater.calls).toHaveLength(1);
    await clock.advance(1 + checkIntervalMs);
    expect(updater.calls).toEqual(['check', 'check', 'check']);
  });

  it('fetches an update and asks, and installs nothing when the answer is later', async () => {
    electron.dialog.answers = [0];
    await start();
    await clock.advance(3 * checkIntervalMs);
    expect(updater.calls).toEqual(['check', 'download', 'check', 'check', 'check']);
    expect(electron.dialog.asked).toHaveLength(1);
    expect(electron.dialog.asked[0]).toMatchObject({
      message: 'AgentCanvas 2.0.0 is ready to install.',
      defaultId: 0,
      cancelId: 0,
    });
  });

  it('offers a newer version after one was declined', async () => {
    electron.dialog.answers = [0, 1];
    await start();
    updater.offered = '2.1.0';
    await clock.advance(checkIntervalMs);
    expect(updater.calls).toEqual(['check', 'download', 'check', 'download', 'install']);
  });

  it('restarts when the user says so', async () => {
    electron.dialog.answers = [1];
    await start();
    expect(updater.calls).toEqual(['check', 'download', 'install']);
  });

  it('stops with the app', async () => {
    updater.offered = null;
    const started = await start();
    started[Symbol.dispose]();
    await clock.advance(3 * checkIntervalMs);
    expect([updater.calls, clock.pendingTimers]).toEqual([['check'], 0]);
  });
});

describe('while a run is active', () => {
  it('does nothing, and catches up once it has ended', async () => {
    run = 'a run';
    await start();
    await clock.advance(2 * checkIntervalMs);
    expect([updater.calls, electron.dialog.asked]).toEqual([[], []]);
    await changeRun(null);
    expect(updater.calls).toEqual(['check', 'download']);
    expect(electron.dialog.asked).toHaveLength(1);
  });

  it('fetches nothing that was found just before it began', async () => {
    updater.checkForUpdates = async () => {
      updater.calls.push('check');
      run = 'a run';
      updater.emit('update-available', { version: '2.0.0' });
    };
    await start();
    expect(updater.calls).toEqual(['check']);
    await changeRun(null);
    expect(updater.calls).toEqual(['check', 'download']);
  });

  it('does not ask about a download that ended meanwhile', async () => {
    updater.downloadUpdate = async () => {
      updater.calls.push('download');
      run = 'a run';
      updater.emit('update-downloaded', { version: '2.0.0' });
    };
    await start();
    expect([updater.calls, electron.dialog.asked]).toEqual([['check', 'download'], []]);
    await changeRun(null);
    expect(electron.dialog.asked).toHaveLength(1);
  });

  it('leaves the pause between two runs of a queue alone', async () => {
    run = 'first';
    await start();
    run = null;
    feed.publish('guard.changed', { holder: null });
    await clock.advance(quietAfterRunMs / 2);
    await changeRun('second');
    expect(updater.calls).toEqual([]);
  });

  it('does not restart although the user agreed before it began, and asks again after it', async () => {
    const { dialog } = electron;
    dialog.showMessageBox = (...args) => {
      dialog.asked.push(args.at(-1));
      if (dialog.asked.length === 1) run = 'a run';
      return Promise.resolve({ response: 1 });
    };
    await start();
    expect(updater.calls).toEqual(['check', 'download']);
    await changeRun(null);
    expect([updater.calls.at(-1), dialog.asked.length]).toEqual(['install', 2]);
  });
});

describe('errors', () => {
  it('are logged once each, shown to nobody, and the next check comes in its time', async () => {
    updater.failure = new Error('no network');
    await start();
    expect([errors, updater.calls]).toEqual([[updater.failure], ['check']]);
    updater.failure = null;
    electron.dialog.answers = [0];
    await clock.advance(checkIntervalMs);
    expect(updater.calls).toEqual(['check', 'check', 'download']);
    expect(electron.dialog.errors).toEqual([]);
  });

  it('of loading the updater leave the app as it is', async () => {
    const failure = new Error('broken package');
    await start(signedBuild, async () => {
      throw failure;
    });
    expect([errors, clock.pendingTimers]).toEqual([[failure], 0]);
  });
});
