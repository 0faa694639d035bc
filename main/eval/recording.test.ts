// Recording over real files: what each policy keeps, that frames are stored once, and that nothing that goes wrong here
// reaches the episode. Read back through the same tasks that Replay uses.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../base/fake-clock.ts';
import { StudioError } from '../base/errors.ts';
import { silentLogger } from '../base/logger.ts';
import { Tensor } from '../base/tensor.ts';
import { evalConfig } from '../contract/eval-config.ts';
import type { PlannedEpisode } from '../contract/run.ts';
import type { FiringEnd } from '../graph/listener.ts';
import { createPerformer } from '../store/bulk-work.ts';
import { nodeFileSystem } from '../store/node-file-system.ts';
import type { FileSystemPort, RunHandle } from '../store/ports.ts';
import { openSampleStore, sampleRecord, samplePlan, temporaryFolder } from '../store/testing/sample-store.ts';
import type { AttemptOutcome } from './attempt-row.ts';
import type { EpisodeRequest } from './ports.ts';
import type { EpisodeRecording } from './run-episode.ts';
import { createRecordings, type Recordings } from './recording.ts';
import { isFailure, sampledOrdinals } from './recording-policy.ts';

const perform = createPerformer(nodeFileSystem);
const won: AttemptOutcome = {
  status: 'completed',
  metrics: { success: 1 },
  limit: null,
  error: null,
  nodeErrors: [],
};
const lost: AttemptOutcome = { ...won, metrics: { success: 0 } };

function frame(seed: number): Tensor {
  return Tensor.of(
    'uint8',
    [6, 8, 3],
    Uint8Array.from({ length: 144 }, (_, i) => (i * seed) % 251),
  );
}

function firing(step: number, outputs: FiringEnd['outputs'], more: Partial<FiringEnd> = {}): FiringEnd {
  const about = { nodeId: 'env', nodeType: 'toy__step', path: 'env', phase: 'loop' as const, step };
  return { ...about, inputs: {}, outputs, error: null, durationMs: 1.5, log: [], ...more };
}

interface Bench extends AsyncDisposable {
  readonly handle: RunHandle;
  readonly recordings: Recordings;
  readonly clock: FakeClock;
  readonly notices: string[];
  begin(episode: PlannedEpisode, request?: Partial<EpisodeRequest>): EpisodeRecording;
  record(
    episode: PlannedEpisode,
    firings: readonly FiringEnd[],
    outcome: AttemptOutcome | null,
    request?: Partial<EpisodeRequest>,
  ): Promise<string>;
}

async function openBench(
  recording: string,
  options: {
    fileSystem?: FileSystemPort;
    limits?: { fileBytes: number; waitingBytes: number; gatherBytes: number };
    failureBytesPerRun?: number;
  } = {},
): Promise<Bench> {
  const folder = await temporaryFolder();
  const store = await openSampleStore(folder.path);
  const config = evalConfig.parse({ graph: 'some_graph', recording });
  const handle = await store.create({
    record: sampleRecord({ config, plan: samplePlan(6) }),
    graphText: '{}',
  });
  const clock = createFakeClock();
  const notices: string[] = [];
  const recordings = createRecordings({
    fileSystem: nodeFileSystem,
    ...options,
    clock,
    logger: silentLogger,
    bulk: { run: perform },
    onNotice: (message) => void notices.push(message),
  });
  const port = recordings.port(handle);
  const begin: Bench['begin'] = (episode, request = {}) => {
    const { signal } = new AbortController();
    const whole = { episode, attempt: 1, epoch: 1, worker: 0, signal, ...request };
    return port.begin(whole as EpisodeRequest, 'execution');
  };
  return {
    handle,
    recordings,
    clock,
    notices,
    begin,
    async record(episode, firings, outcome, request = {}) {
      const recorder = begin(episode, request);
      for (const item of firings) recorder.listener.onFiring?.(item);
      const kept = await recorder.finish(outcome);
      await recordings.settled();
      return kept;
    },
    async [Symbol.asyncDispose]() {
      await recordings.settled();
      await store[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const placeOf = ({ handle }: Bench, { key }: PlannedEpisode, attempt?: number) => ({
  runId: handle.record.runId,
  key,
  episodeFolder: handle.episodeFolder(key),
  ...(attempt === undefined ? {} : { attempt }),
});

const keptKeys = ({ handle }: Bench): Promise<string[]> =>
  readdir(join(handle.folder, 'episodes')).catch(() => []);

describe('policies', () => {
  it('none keeps nothing, failures keeps what failed, all keeps everything', async () => {
    for (const [policy, kept] of [
      ['none', []],
      ['failures', [1, 2]],
      ['all', [0, 1, 2]],
    ] as const) {
      await using bench = await openBench(policy);
      const [a, b, c] = bench.handle.record.plan;
      const answers = [
        await bench.record(a!, [firing(0, { rgb: frame(3) })], won),
        await bench.record(b!, [firing(0, { rgb: frame(5) })], lost),
        await bench.record(c!, [firing(0, { rgb: frame(7) })], { ...won, status: 'no_verdict', metrics: {} }),
      ];
      expect(answers.map((answer) => answer === 'kept')).toEqual(
        [0, 1, 2].map((ordinal) => (kept as readonly number[]).includes(ordinal)),
      );
      expect((await keptKeys(bench)).sort()).toEqual(
        kept.map((ordinal) => bench.handle.record.plan[ordinal]?.key),
      );
      expect(await readdir(join(bench.handle.folder, 'scratch')).catch(() => [])).toEqual([]);
    }
  });

  it('sample keeps exactly as many as asked, the same ones whatever the order', async () => {
    const plan = samplePlan(500);
    const chosen = sampledOrdinals('sample:20', plan);
    expect(chosen?.size).toBe(20);
    expect(sampledOrdinals('sample:20', plan.toReversed())).toEqual(chosen);
    expect(Math.max(...(chosen ?? []))).toBeGreaterThan(250);
    await using bench = await openBench('sample:2');
    for (const episode of bench.handle.record.plan) await bench.record(episode, [firing(0, { a: 1 })], won);
    expect(await keptKeys(bench)).toHaveLength(2);
  });

  it('an attempt ended by its deadline or a death is a failure, a cancelled one is not', async () => {
    await using bench = await openBench('failures');
    const [a, b] = bench.handle.record.plan;
    const signal = AbortSignal.abort(new StudioError('timeout', 'took too long'));
    expect(await bench.record(a!, [firing(0, { x: 1 })], null, { signal })).toBe('kept');
    const stopped = AbortSignal.abort(new StudioError('aborted', 'cancelled'));
    expect(await bench.record(b!, [firing(0, { x: 1 })], null, { signal: stopped })).toBe('none');
    expect(
      isFailure(
        { ...won, nodeErrors: [{ nodePath: 'n', message: 'm', step: 0 }] },
        bench.handle.record.metrics,
      ),
    ).toBe(true);
  });

  it('is ended once: what a runner that hung does later is dropped, and asking again gives the same answer', async () => {
    await using bench = await openBench('failures');
    const [episode] = bench.handle.record.plan;
    const signal = AbortSignal.abort(new StudioError('timeout', 'took too long'));
    const recording = bench.begin(episode!, { signal });
    recording.listener.onFiring?.(firing(0, { rgb: frame(1) }));
    expect(await recording.finish(null)).toBe('kept');
    recording.listener.onFiring?.(firing(1, { rgb: frame(2) }));
    expect(await recording.finish(won)).toBe('kept');
    await bench.recordings.settled();
    const opened = await perform('openRecording', { place: placeOf(bench, episode!) });
    expect(opened.index.lines).toBe(1);
  });

  it('keeps the firing an episode hung in, with what went in and why nothing came out', async () => {
    await using bench = await openBench('failures');
    const [episode] = bench.handle.record.plan;
    const signal = AbortSignal.abort(new StudioError('timeout', 'took longer than 3 s'));
    const recording = bench.begin(episode!, { signal });
    const { outputs, error, durationMs, log, ...start } = firing(1, null, { inputs: { action: 2 } });
    recording.listener.onFiringStart?.(start);
    recording.listener.onFiring?.({ ...start, outputs: { x: 1 }, error, durationMs, log });
    recording.listener.onFiringStart?.({ ...start, step: 2 });
    await bench.clock.advance(3000);
    expect(await recording.finish(null)).toBe('kept');
    await bench.recordings.settled();
    const read = { fromLine: 0, nodeId: '', limit: 10 };
    const { firings } = await perform('recordingLog', { place: placeOf(bench, episode!), ...read });
    expect(firings.map(({ step, error: said, durationMs: took }) => [step, said, took])).toEqual([
      [1, null, 1.5],
      [2, 'Did not end: took longer than 3 s', 3000],
    ]);
    expect(firings[1]?.inputs).toEqual([{ port: 'action', value: { kind: 'number', value: 2 } }]);
    expect(outputs).toBeNull();
  });

  it('stops keeping failures at the limit of a run and says so once', async () => {
    await using bench = await openBench('failures', { failureBytesPerRun: 100 });
    for (const episode of bench.handle.record.plan)
      await bench.record(episode, [firing(0, { rgb: frame(3) })], lost);
    expect(await keptKeys(bench)).toHaveLength(1);
    expect(bench.notices).toHaveLength(1);
  });
});

describe('a recording', () => {
  it('stores each picture once by its content and reads back what was there', async () => {
    await using bench = await openBench('all');
    const [episode] = bench.handle.record.plan;
    const same = frame(3);
    const depth = Tensor.of(
      'float32',
      [8, 8],
      Float32Array.from({ length: 64 }, (_, i) => (i === 0 ? Infinity : i / 2)),
    );
    const long = 'word '.repeat(2000);
    await bench.record(
      episode!,
      [
        firing(
          0,
          { rgb: same, depth, pose: { position: [1, 2, 0], orientation: [0, 0, 1, 0] } },
          { log: [['prompt', long]] },
        ),
        firing(
          0,
          {},
          {
            nodeId: 'policy',
            nodeType: 'toy__policy',
            path: 'policy',
            inputs: { observation: same },
            outputs: { action: 3 },
          },
        ),
        firing(1, { rgb: frame(3), value: Number.NaN, pose: { position: [1.5, 2, 0] } }),
        firing(2, null, { error: new StudioError('node_failed', 'it broke') }),
      ],
      won,
    );
    const place = placeOf(bench, episode!);
    const assets = await readdir(join(place.episodeFolder, 'assets'));
    expect(assets.filter((name) => name.endsWith('.png'))).toHaveLength(2);
    const { header, index } = await perform('openRecording', { place });
    expect(index).toMatchObject({ isComplete: true, lines: 4, steps: 3 });
    expect(header).toMatchObject({
      attempt: 1,
      isCut: false,
      track: [
        [0, 1, 2, Math.PI],
        [1, 1.5, 2, null],
      ],
    });
    const steps = await perform('recordingSteps', { place, fromStep: 0, limit: 10 });
    expect(steps.map(({ firings, errors, action, position }) => [firings, errors, action, position])).toEqual(
      [
        [2, 0, '3', [1, 2, 0]],
        [1, 0, null, [1.5, 2, 0]],
        [1, 1, null, null],
      ],
    );
    const rgb = header?.streams.findIndex(({ port }) => port === 'rgb');
    const [first, second] = steps.map(
      ({ images }) => images.find(({ stream }) => stream === rgb)?.asset.address,
    );
    expect(first).toBe(second);
    expect(first).toMatch(/^\/assets\/[^/]+\/[^/]+\/[0-9a-f]{64}\.png$/);
    const { firings } = await perform('recordingFirings', { place, step: 0, offset: 0, limit: 10 });
    expect(firings[0]?.log[0]?.value).toMatchObject({ kind: 'text', length: long.length });
    expect(firings[0]?.outputs.find(({ port }) => port === 'depth')?.value).toMatchObject({
      kind: 'image',
      isDepth: true,
      low: 0.5,
      high: 31.5,
    });
    const { firings: later } = await perform('recordingFirings', { place, step: 1, offset: 0, limit: 10 });
    expect(later[0]?.outputs.find(({ port }) => port === 'value')?.value).toEqual({
      kind: 'number',
      value: 'nan',
    });
    const file = await readFile(join(place.episodeFolder, 'assets', first?.split('/').at(-1) ?? ''));
    expect(pixelsOf(file, 24)).toEqual(Array.from(same.bytes));
    const { firings: policy, nextLine } = await perform('recordingLog', {
      place,
      fromLine: 0,
      nodeId: 'policy',
      limit: 10,
    });
    expect([policy.map(({ line }) => line), nextLine]).toEqual([[1], null]);
    expect((await perform('recordingTable', { place })).split('\n')).toHaveLength(5);
  });

  it('is not touched by a node that reuses its buffer', async () => {
    await using bench = await openBench('all');
    const [episode] = bench.handle.record.plan;
    const buffer = frame(3);
    const before = Array.from(buffer.bytes);
    const recorder = bench.recordings
      .port(bench.handle)
      .begin(
        { episode, attempt: 1, epoch: 1, worker: 0, signal: new AbortController().signal } as EpisodeRequest,
        'execution',
      );
    recorder.listener.onFiring?.(firing(0, { rgb: buffer }));
    buffer.bytes.fill(0);
    await recorder.finish(won);
    await bench.recordings.settled();
    const folder = join(bench.handle.episodeFolder(episode!.key), 'assets');
    const [name = ''] = await readdir(folder);
    expect(pixelsOf(await readFile(join(folder, name)), 24)).toEqual(before);
  });

  it('of an earlier attempt stays beside the later one', async () => {
    await using bench = await openBench('all');
    const [episode] = bench.handle.record.plan;
    await bench.record(episode!, [firing(0, { x: 1 })], { ...lost, status: 'error' });
    await bench.record(episode!, [firing(0, { x: 2 }), firing(1, { x: 3 })], won, { attempt: 2, epoch: 2 });
    const opened = await perform('openRecording', { place: placeOf(bench, episode!) });
    expect([opened.attempt, opened.index.lines]).toEqual([2, 2]);
    const earlier = await perform('openRecording', { place: placeOf(bench, episode!, 1) });
    expect([earlier.attempt, earlier.index.lines]).toEqual([1, 1]);
    const { rows } = await perform('recordedEpisodes', {
      folder: bench.handle.folder,
      statuses: [],
      offset: 0,
      limit: 10,
    });
    expect(rows.map(({ attempts }) => attempts)).toEqual([[1, 2]]);
  });

  it('that was kept but not yet put in order when the engine died is put in order when opened', async () => {
    await using bench = await openBench('all');
    const [episode] = bench.handle.record.plan;
    const dead = createRecordings({
      fileSystem: nodeFileSystem,
      clock: bench.clock,
      logger: silentLogger,
      bulk: { run: () => Promise.reject(new StudioError('internal', 'the thread ended')) },
    });
    const recorder = dead
      .port(bench.handle)
      .begin(
        { episode, attempt: 1, epoch: 1, worker: 0, signal: new AbortController().signal } as EpisodeRequest,
        'execution',
      );
    recorder.listener.onFiring?.(firing(0, { rgb: frame(3) }));
    expect(await recorder.finish(won)).toBe('kept');
    await dead.settled();
    expect(await readdir(bench.handle.episodeFolder(episode!.key))).toEqual(['scratch_1_1']);
    const place = placeOf(bench, episode!);
    await bench.recordings.inOrder(place.episodeFolder);
    const opened = await perform('openRecording', { place });
    expect([opened.index.lines, opened.attempt]).toEqual([1, 1]);
    expect((await readdir(bench.handle.episodeFolder(episode!.key))).sort()).toEqual([
      'assets',
      'log.index',
      'log.index.json',
      'log.jsonl',
      'replay.json',
    ]);
  });

  it('beyond its limit is cut, and says so, while the log goes on', async () => {
    await using bench = await openBench('all', {
      limits: { fileBytes: 1000, waitingBytes: 10_000, gatherBytes: 100 },
    });
    const [episode] = bench.handle.record.plan;
    await bench.record(
      episode!,
      [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => firing(0, { rgb: frame(seed) })).slice(0, 8),
      won,
    );
    const { header } = await perform('openRecording', { place: placeOf(bench, episode!) });
    expect(header?.isCut).toBe(true);
  });

  it('that cannot be written is failed, and neither throws nor leaves anything behind', async () => {
    for (const broken of ['open', 'rename', 'makeFolder'] as const) {
      const fileSystem: FileSystemPort = {
        ...nodeFileSystem,
        [broken]: () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
      };
      await using bench = await openBench('all', { fileSystem });
      const [episode] = bench.handle.record.plan;
      expect(await bench.record(episode!, [firing(0, { rgb: frame(3) })], won)).toBe('failed');
      expect(await readdir(join(bench.handle.folder, 'scratch')).catch(() => [])).toEqual([]);
    }
  });

  it('of values that cannot be drawn or written still is one line of JSON', async () => {
    await using bench = await openBench('all');
    const [episode] = bench.handle.record.plan;
    const ring: Record<string, unknown> = {};
    ring['self'] = ring;
    const odd = {
      ring,
      call: () => 1,
      big: 12n,
      set: new Set([1]),
      bytes: new Uint8Array(5),
      many: Array.from({ length: 900 }, (_, i) => i),
      none: undefined,
    };
    expect(await bench.record(episode!, [firing(0, odd)], won)).toBe('kept');
    const { firings } = await perform('recordingFirings', {
      place: placeOf(bench, episode!),
      step: 0,
      offset: 0,
      limit: 1,
    });
    expect(firings[0]?.outputs.map(({ port, value }) => [port, value.kind])).toEqual([
      ['ring', 'json'],
      ['call', 'empty'],
      ['big', 'text'],
      ['set', 'json'],
      ['bytes', 'json'],
      ['many', 'json'],
      ['none', 'empty'],
    ]);
  });
});

describe('a log that was never indexed', () => {
  it('can be looked at before it is indexed to its end, and gives every line by step', async () => {
    await using bench = await openBench('all');
    const [episode] = bench.handle.record.plan;
    const folder = bench.handle.episodeFolder(episode!.key);
    await nodeFileSystem.makeFolder(folder);
    const lines = Array.from({ length: 9000 }, (_, line) => ({
      step: Math.floor(line / 3),
      node: `n${line % 3}`,
      note: 'x'.repeat(200 + (line % 50)),
    }));
    await writeFile(join(folder, 'log.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));
    const place = placeOf(bench, episode!);
    let opened = await perform('openRecording', { place, budgetBytes: 1 });
    let slices = 1;
    while (!opened.index.isComplete) {
      opened = await perform('openRecording', { place, budgetBytes: 1 });
      slices++;
    }
    expect(slices).toBeGreaterThan(1);
    expect(opened.index).toMatchObject({ lines: 9000, steps: 3000 });
    expect(opened.index.nodes.map(({ firings }) => firings)).toEqual([3000, 3000, 3000]);
    for (const step of [0, 1365, 1366, 2999]) {
      const { firings, total } = await perform('recordingFirings', { place, step, offset: 1, limit: 5 });
      expect([total, firings.map(({ line, nodeId }) => [line, nodeId])]).toEqual([
        3,
        [
          [step * 3 + 1, 'n1'],
          [step * 3 + 2, 'n2'],
        ],
      ]);
    }
    await writeFile(join(folder, 'log.jsonl'), `${JSON.stringify({ step: 0, node: 'other' })}\nno json\n`);
    expect((await perform('openRecording', { place })).index).toMatchObject({ lines: 2, steps: 1 });
  });
});

describe('the live frame of a worker', () => {
  it('is encoded when asked for, at most twice a second, from the node that showed a picture first', async () => {
    await using bench = await openBench('none');
    const { recordings, handle, clock } = bench;
    const [episode] = handle.record.plan;
    expect(recordings.frame(handle.record.runId, 0)).toBeNull();
    const recorder = recordings.port(handle).begin({ episode, worker: 0 } as EpisodeRequest, 'execution');
    recorder.listener.onFiring?.(
      firing(0, { depth: Tensor.of('float32', [8, 8], new Float32Array(64)), rgb: frame(3) }),
    );
    recorder.listener.onFiring?.(firing(0, { attention: frame(9) }, { nodeId: 'policy' }));
    const first = recordings.frame(handle.record.runId, 0);
    expect(pixelsOf(Buffer.from(first?.base64 ?? '', 'base64'), 24)).toEqual(Array.from(frame(3).bytes));
    recorder.listener.onFiring?.(firing(1, { rgb: frame(5) }));
    expect(recordings.frame(handle.record.runId, 0)).toBe(first);
    await clock.advance(500);
    expect(recordings.frame(handle.record.runId, 0)).toMatchObject({ step: 1 });
    expect(recordings.frame(handle.record.runId, 1)).toBeNull();
  });
});

/** Undoes the PNG: one IDAT, rows filtered by "up". */
function pixelsOf(png: Buffer, rowBytes: number): number[] {
  const at = png.indexOf('IDAT');
  const raw = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  const pixels: number[] = [];
  for (let row = 0; row * (rowBytes + 1) < raw.length; row++) {
    const filter = raw[row * (rowBytes + 1)];
    for (let i = 0; i < rowBytes; i++) {
      const above = filter === 2 ? (pixels[(row - 1) * rowBytes + i] ?? 0) : 0;
      pixels.push(((raw[row * (rowBytes + 1) + 1 + i] ?? 0) + above) & 0xff);
    }
  }
  return pixels;
}
