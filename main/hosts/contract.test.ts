// Every request of the contract through every transport over one real engine: the same question gets the same answer,
// in the contract's form, and a wrong one is refused everywhere alike.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { connectBridge } from '../../electron/ipc-bridge.ts';
import { invokeChannel, type ElectronApi } from '../../electron/electron-api.ts';
import { systemClock } from '../base/clock.ts';
import type { ErrorCode } from '../base/error-codes.ts';
import { silentLogger } from '../base/logger.ts';
import type { RequestInput, RequestName } from '../contract/api.ts';
import { errorInfo } from '../contract/error.ts';
import { requests } from '../contract/requests.ts';
import { createStudio, type Studio } from '../studio.ts';
import { localTransport, type Engine } from './engine.ts';
import { connectToOwner, ownerSocketPath, serveOwnerSocket } from './owner-socket.ts';
import { startWebHost } from './web.ts';

type Ask = (name: string, input: unknown) => Promise<unknown>;

/** Stand for the finished run and for the workspace, which have their names only when the engine is there. */
const RUN = '<run>';
const FOLDER = '<folder>';
const unknownRun = { runId: '20260101T000000.000Z-aaaaaa' };
const unknownNodeset = { name: 'no_such_nodeset' };
const config = { graph: 'no_such_graph' };
const definition = { name: 'empty', nodes: [], edges: [] };
const played = { definition, graph: { name: 'empty', ref: null } };
const pair = { baselineRun: RUN, otherRun: RUN };
const episode = { runId: RUN, ordinal: 0 };
const field = { nodeset: 'no_such_nodeset', name: 'no_such_field' };

/** Safe to send again and again: the engine is the same afterwards. */
const valid = {
  'app.info': {},
  'app.recovery': {},
  'app.acknowledgeRecovery': { id: 'no_such_finding' },
  'guard.get': {},
  'graphs.list': {},
  'graphs.read': { ref: 'library:minivln_expert' },
  'graphs.validate': { text: JSON.stringify(definition) },
  'graphs.introspect': { ref: 'library:minivln_expert' },
  'graphs.save': { ref: `${FOLDER}/graphs/kept.json`, text: JSON.stringify(definition) },
  'graphs.import': { name: 'broken', text: '{' },
  'graphs.saveEdited': { ref: 'library:minivln_expert', originalText: 'not that text', definition },
  'graphs.saveCopy': { name: 'broken', originalText: '{', definition },
  'nodesets.list': {},
  'nodesets.nodes': {},
  'nodesets.load': { name: 'minivln' },
  'nodesets.unload': unknownNodeset,
  'nodesets.reload': unknownNodeset,
  'nodesets.rescan': {},
  'nodesets.log': { name: 'minivln' },
  'nodesets.buildEnvironment': { name: 'minivln' },
  'nodesets.cancelBuild': unknownNodeset,
  'nodesets.setInterpreter': { name: 'minivln', interpreter: 'python3' },
  'nodesets.attach': { url: 'http://127.0.0.1:9', name: 'minivln' },
  'nodesets.detach': unknownNodeset,
  'runs.preflight': { config },
  'runs.start': { config },
  'runs.resume': unknownRun,
  'runs.stop': unknownRun,
  'runs.cancel': unknownRun,
  'runs.list': {},
  'runs.get': { runId: RUN },
  'runs.live': { runId: RUN },
  'runs.episodes': { runId: RUN, sort: [{ column: 'metrics.success' }], filter: 'success >= 0' },
  'runs.attempts': episode,
  'runs.update': { runId: RUN, note: 'the same note', tags: ['kept'] },
  'runs.delete': { runIds: [unknownRun.runId] },
  'runs.export': { runId: RUN, format: 'csv' },
  'runs.queue': {},
  'runs.reorderQueue': { runIds: [] },
  'runs.rebuildIndex': {},
  'runs.frame': { runId: RUN, worker: 0 },
  'runs.compare': { runIds: [RUN, RUN] },
  'runs.compareFlips': { ...pair, metric: 'success', outcomes: ['same'] },
  'runs.compareScatter': { ...pair, metric: 'success' },
  'runs.compareGroups': { ...pair, metric: 'success', by: 'scene' },
  'runs.compareGraphs': pair,
  'runs.graph': { runId: RUN },
  'runs.provenance': { runIds: [RUN] },
  'runs.episodesNeeded': { runId: RUN, metric: 'success', difference: 0.1 },
  'runs.parallelCheck': { config, episodes: 1, workerCounts: [1, 2] },
  'runs.parallelDifferences': pair,
  'runs.exportComparison': { runIds: [RUN, RUN], format: 'json' },
  'runs.exportFile': { runId: RUN, format: 'csv' },
  'runs.import': { path: `${FOLDER}/no such file.zip` },
  'runs.dropUpload': { upload: '0123456789abcdef-a.zip' },
  'replay.episodes': { runId: RUN },
  'replay.open': episode,
  'replay.steps': { ...episode, limit: 3 },
  'replay.firings': { ...episode, step: 1 },
  'replay.log': { ...episode, limit: 5 },
  'replay.csv': episode,
  'replay.exportFolder': { ...episode, folder: FOLDER },
  'play.state': {},
  'play.prepare': played,
  'play.start': played,
  'play.pause': {},
  'play.resume': {},
  'play.step': { unit: 'firing' },
  'play.stop': {},
  'play.restore': { step: 0 },
  'play.delay': { stepDelayMs: 5 },
  'play.release': {},
  'play.node': { nodeId: 'no_such_node' },
  'play.viewers': {},
  'panel.field': { ...field, value: 1 },
  'panel.action': field,
  'panel.options': field,
  'chat.status': {},
  'chat.setKey': { provider: 'openai', key: 'a-key-of-the-contract-test' },
  'chat.clearKey': { provider: 'openai' },
  // Nothing listens there: the test of a provider tells that, and is no error.
  'chat.test': {
    provider: { name: 'nobody', baseUrl: 'http://127.0.0.1:9/v1', needsKey: false },
    model: 'none',
  },
  'settings.get': {},
  'settings.set': { settings: {} },
  'trust.list': {},
  'trust.add': { folder: `${FOLDER}/trusted` },
  'trust.remove': { folder: `${FOLDER}/trusted` },
  'trust.addContent': { path: `${FOLDER}/trusted` },
  'trust.removeContent': { path: `${FOLDER}/trusted` },
  'doctor.run': {},
  'shell.openFolder': { runId: RUN },
} satisfies { [Name in RequestName]: RequestInput<Name> };

/** The others succeed. A file that is no graph is wrong input too, which only its reader can tell. */
const refused: Partial<Record<RequestName, ErrorCode>> = {
  'graphs.import': 'invalid_input',
  'graphs.saveEdited': 'conflict',
  'graphs.saveCopy': 'invalid_input',
  'nodesets.unload': 'nodeset_unknown',
  'nodesets.reload': 'nodeset_unknown',
  'nodesets.buildEnvironment': 'unsupported',
  'nodesets.cancelBuild': 'nodeset_unknown',
  'nodesets.setInterpreter': 'unsupported',
  'nodesets.attach': 'conflict',
  'nodesets.detach': 'not_found',
  'runs.start': 'not_found',
  'runs.resume': 'not_found',
  'runs.stop': 'not_found',
  'runs.cancel': 'not_found',
  'runs.delete': 'not_found',
  'runs.parallelCheck': 'not_found',
  'runs.import': 'not_found',
  'replay.exportFolder': 'conflict',
  'play.start': 'graph_invalid',
  'play.pause': 'conflict',
  'play.resume': 'conflict',
  'play.step': 'conflict',
  'play.restore': 'conflict',
  'panel.field': 'conflict',
  'panel.action': 'conflict',
  'panel.options': 'conflict',
  'shell.openFolder': 'unsupported',
};

/** Fields that differ between two calls of one transport as well. */
const varying: Partial<Record<RequestName, readonly string[]>> = {
  'play.state': ['revision'],
  'play.prepare': ['revision', 'isPrepared'],
  'play.stop': ['revision'],
  'play.delay': ['revision'],
  'play.release': ['revision'],
  // The output says how much disk is free and which processes there are.
  'doctor.run': ['output'],
  'chat.test': ['durationMs'],
};

const unasked = { unasked: true };
const noId = { runId: 7 };
const noPair = { baselineRun: 'a' };
const noName = { name: '', unasked: true };
const noOrdinal = { runId: 'a', ordinal: 'first' };

const invalid = {
  'app.info': unasked,
  'app.recovery': unasked,
  'app.acknowledgeRecovery': {},
  'guard.get': unasked,
  'graphs.list': 'all',
  'graphs.read': { ref: 7 },
  'graphs.validate': { text: 7 },
  'graphs.introspect': { ref: 'library:minivln_expert', load: 'yes' },
  'graphs.save': { ref: 'a' },
  'graphs.import': { text: '{}' },
  'graphs.saveEdited': { ref: 'a', originalText: null, definition },
  'graphs.saveCopy': { name: '', originalText: null, definition },
  'nodesets.list': [],
  'nodesets.nodes': unasked,
  'nodesets.load': {},
  'nodesets.unload': noName,
  'nodesets.reload': noName,
  'nodesets.rescan': unasked,
  'nodesets.log': { name: null },
  'nodesets.buildEnvironment': { name: 'minivln', wait: 1 },
  'nodesets.cancelBuild': noName,
  'nodesets.setInterpreter': { name: 'minivln', interpreter: 'x'.repeat(4001) },
  'nodesets.attach': { name: 'a' },
  'nodesets.detach': noName,
  'runs.preflight': { config: {} },
  'runs.start': { config: { ...config, workerCount: 0 } },
  'runs.resume': noId,
  'runs.stop': noId,
  'runs.cancel': noId,
  'runs.list': { limit: 1001 },
  'runs.get': noId,
  'runs.live': noId,
  'runs.episodes': { runId: 'a', filter: 'x'.repeat(2001) },
  'runs.attempts': noOrdinal,
  'runs.update': { runId: 'a', name: 'x'.repeat(201) },
  'runs.delete': { runIds: [] },
  'runs.export': { runId: 'a', format: 'pdf' },
  'runs.queue': unasked,
  'runs.reorderQueue': { runIds: 'a' },
  'runs.rebuildIndex': unasked,
  'runs.frame': { runId: 'a', worker: 0.5 },
  'runs.compare': { runIds: ['a'] },
  'runs.compareFlips': noPair,
  'runs.compareScatter': noPair,
  'runs.compareGroups': { ...pair, metric: 'success', by: 'mood' },
  'runs.compareGraphs': noPair,
  'runs.graph': noId,
  'runs.provenance': { runIds: [] },
  'runs.episodesNeeded': { runId: 'a', metric: 'success', difference: 0 },
  'runs.parallelCheck': { config, episodes: 1, workerCounts: [1] },
  'runs.parallelDifferences': { ...pair, offset: -1 },
  'runs.exportComparison': { runIds: ['a', 'b'], format: 'pdf' },
  'runs.exportFile': { runId: 'a', format: 'pdf' },
  'runs.import': { path: 7 },
  'runs.dropUpload': {},
  'replay.episodes': noId,
  'replay.open': noOrdinal,
  'replay.steps': { ...episode, limit: 501 },
  'replay.firings': episode,
  'replay.log': { ...episode, fromLine: -1 },
  'replay.csv': noOrdinal,
  'replay.exportFolder': { ...episode, folder: '' },
  'play.state': unasked,
  'play.prepare': { definition },
  'play.start': { ...played, seed: -1 },
  'play.pause': unasked,
  'play.resume': unasked,
  'play.step': { unit: 'day' },
  'play.stop': { now: 'please' },
  'play.restore': { step: -1 },
  'play.delay': { stepDelayMs: 60_001 },
  'play.release': unasked,
  'play.node': {},
  'play.viewers': { known: { a: 'b' } },
  'panel.field': { nodeset: 'a' },
  'panel.action': { name: 'a' },
  'panel.options': { ...field, unasked },
  'settings.get': unasked,
  'chat.status': unasked,
  'chat.setKey': { provider: 'openai', key: '' },
  'chat.clearKey': { provider: 'no/such name' },
  'chat.test': { provider: { name: 'nobody', baseUrl: 'ftp://x' }, model: 'none' },
  'settings.set': { settings: { deadlines: { stepSec: -1 } } },
  'trust.list': unasked,
  'trust.add': {},
  'trust.remove': { folder: 7 },
  'trust.addContent': { hash: 'x' },
  'trust.removeContent': {},
  'doctor.run': unasked,
  'shell.openFolder': noId,
} satisfies Record<RequestName, unknown>;

const replySchema = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), value: z.unknown() }),
  z.strictObject({ ok: z.literal(false), error: errorInfo }),
]);

const names = Object.keys(requests) as RequestName[];
const transports = new Map<string, Ask>();
const resources = new AsyncDisposableStack();
let studio: Studio;
let folder: string;
let runId: string;

beforeAll(async () => {
  const root = await mkdtemp(path.join(os.tmpdir(), 'every transport '));
  resources.defer(() => rm(root, { recursive: true, force: true }));
  vi.stubEnv('AGENTCANVAS_HOME', path.join(root, 'home'));
  folder = path.join(root, 'my workspace');
  for (const name of ['graphs', 'trusted']) await mkdir(path.join(folder, name), { recursive: true });
  await writeFile(path.join(folder, 'graphs', 'kept.json'), JSON.stringify(definition));
  await writeFile(path.join(folder, 'agentcanvas.json'), '{}');
  studio = resources.use(await createStudio({ host: 'web', workspace: folder, logger: silentLogger }));
  const local = localTransport(studio);
  transports.set('local', (name, input) => local.request(name as RequestName, input as never));
  transports.set('web', await openWeb(studio));
  transports.set('owner socket', await openSocket(studio));
  transports.set('electron', openElectron(studio));
  runId = await finishRun(studio);
}, 60_000);

afterAll(async () => {
  await resources.disposeAsync();
  vi.unstubAllEnvs();
});

async function openWeb(engine: Engine): Promise<Ask> {
  const host = resources.use(
    await startWebHost({ engine, clock: systemClock, logger: silentLogger, rendererFolder: folder }),
  );
  const post = (route: string, body: unknown, cookie: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${host.port}/api/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    });
  const session = await post('session', { token: host.token }, '');
  const cookie = session.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return async (name, input) => (await post(name, { input }, cookie)).json();
}

async function openSocket(engine: Engine): Promise<Ask> {
  const socketPath = ownerSocketPath(folder);
  resources.use(await serveOwnerSocket(engine, socketPath, 'secret'));
  const owner = resources.use(await connectToOwner(socketPath, 'secret'));
  return (name, input) => owner.request(name as RequestName, input as never);
}

/** What Electron does between page and engine: one handler a channel, values cloned on both ways. */
function openElectron(engine: Engine): Ask {
  type Handler = (event: unknown, ...values: unknown[]) => Promise<unknown>;
  const handlers = new Map<string, Handler>();
  const ipcMain = {
    handle: (channel: string, handler: Handler) => void handlers.set(channel, handler),
    removeHandler: (channel: string) => void handlers.delete(channel),
  } as unknown as ElectronApi['ipcMain'];
  resources.use(connectBridge({ ipcMain, engine, windows: () => [] }));
  const page = {
    senderFrame: { parent: null, url: 'app://agentcanvas/index.html' },
    sender: { isDestroyed: () => false },
  };
  return async (name, input) =>
    structuredClone(await handlers.get(invokeChannel)?.(page, name, structuredClone(input)));
}

async function finishRun({ dispatcher, feed }: Studio): Promise<string> {
  const finished = Promise.withResolvers<string>();
  using _events = feed.subscribe((message) => {
    if (message.name === 'run.finished') finished.resolve(message.payload.runId);
  });
  const selectors = { split: 'val_unseen' };
  const started = await dispatcher.dispatch('runs.start', {
    config: { graph: 'minivln_expert', selectors, episodes: 2, recording: 'all' },
  });
  expect(started).toMatchObject({ ok: true });
  const id = await finished.promise;
  await until('guard.get', { ok: true, value: { holder: null } });
  return id;
}

/** What is still going on when a reply is there must not be what the next transport tells of. */
async function until(name: RequestName, expected: object): Promise<void> {
  const asked = async (): Promise<void> =>
    expect(await studio.dispatcher.dispatch(name, {})).toMatchObject(expected);
  await vi.waitFor(asked, { timeout: 20_000, interval: 20 });
}

/** The input with the names that this engine gave. */
function placed(input: unknown): unknown {
  const text = JSON.stringify(input, (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(RUN, runId).replace(FOLDER, folder) : value,
  );
  return JSON.parse(text) as unknown;
}

function without(value: unknown, keys: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, keys));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !keys.includes(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, without(item, keys)]));
}

describe.each(names)('%s', (name) => {
  it('is answered alike by every transport, in the form of the contract', async () => {
    const input = placed(valid[name]);
    const replies = new Map<string, unknown>();
    for (const [transport, ask] of transports) {
      const reply = replySchema.parse(await ask(name, input));
      const outcome = reply.ok ? 'ok' : reply.error.code;
      const message = reply.ok ? '' : reply.error.message;
      expect([transport, outcome, message]).toEqual([transport, refused[name] ?? 'ok', expect.any(String)]);
      // Parsing drops what the contract does not name: what is left must be all there was.
      const known = reply.ok ? { ...reply, value: requests[name].output.parse(reply.value) } : reply;
      expect(known).toEqual(reply);
      if (name === 'play.prepare') await until('play.state', { value: { view: { status: 'idle' } } });
      replies.set(transport, without(reply, varying[name] ?? []));
    }
    for (const [transport, reply] of replies)
      expect([transport, reply]).toEqual([transport, replies.get('local')]);
  });

  it('refuses wrong input through every transport with the same words', async () => {
    const input = placed(invalid[name]);
    expect(requests[name].input.safeParse(input).success).toBe(false);
    const replies = new Set<string>();
    for (const ask of transports.values()) {
      const reply = await ask(name, input);
      expect(reply).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
      replies.add(JSON.stringify(reply));
    }
    expect([...replies]).toHaveLength(1);
  });
});
