// Requests about recorded episodes. What is large is read in the bulk thread; a long log is indexed on in the
// background while its beginning can already be looked at.
import { tmpdir } from 'node:os';
import path from 'node:path';
import { StudioError, messageOf } from './base/errors.ts';
import type { ParsedInput } from './contract/api.ts';
import type { OpenedRecording, replayRequests } from './contract/replay.ts';
import type { EpisodeAttempt, EpisodeRow } from './contract/run.ts';
import type { Handlers } from './dispatch.ts';
import type { HandlerServices } from './request-handlers.ts';
import { folderOfRun } from './run-exists.ts';
import type { OpenRecording, RecordingPlace } from './store/read-recording.ts';
import type { AttemptOnRecord } from './store/recording-tasks.ts';
import { addressesOf } from './store/read-recording.ts';
import { mapOf } from './store/recorded-steps.ts';
import { episodeKeyName } from './store/recording-format.ts';

export type ReplayRequests = keyof typeof replayRequests;

type EpisodeAddress = Pick<ParsedInput<'replay.open'>, 'runId' | 'ordinal' | 'attempt'>;

export function createReplayHandlers(services: HandlerServices): Pick<Handlers, ReplayRequests> {
  const { store, bulk } = services;
  const indexing = new BackgroundIndexing(services);
  const placeOf = (address: EpisodeAddress): Promise<RecordingPlace> => recordingPlace(services, address);
  return {
    'replay.episodes': async ({ runId, ...page }) => {
      const folder = await folderOfRun(store, runId);
      const { rows, total } = await bulk.run('recordedEpisodes', { folder, ...page });
      return { rows: [...rows], total };
    },
    'replay.open': async (address) => {
      const place = await placeOf(address);
      const opened = await bulk.run('openRecording', { place });
      if (!opened.index.isComplete) indexing.goOn(place);
      return describe(services, { address, place, opened });
    },
    'replay.steps': async ({ fromStep, limit, ...address }) => {
      const steps = await bulk.run('recordingSteps', { place: await placeOf(address), fromStep, limit });
      return { steps: [...steps] };
    },
    'replay.firings': async ({ step, offset, limit, ...address }) => {
      const place = await placeOf(address);
      const { firings, total } = await bulk.run('recordingFirings', { place, step, offset, limit });
      return { firings: [...firings], total };
    },
    'replay.log': async ({ fromLine, nodeId, limit, ...address }) => {
      const place = await placeOf(address);
      const { firings, nextLine } = await bulk.run('recordingLog', { place, fromLine, nodeId, limit });
      return { firings: [...firings], nextLine };
    },
    'replay.csv': async (address) => {
      const place = await placeOf(address);
      const content = await bulk.run('recordingTable', { place });
      return { fileName: `${address.runId}_${place.key}_steps.csv`, mimeType: 'text/csv', content };
    },
    'replay.exportFolder': async ({ folder, ...address }) => {
      const place = await placeOf(address);
      const target = path.resolve(process.env['INIT_CWD'] ?? process.cwd(), folder);
      const { frames, bytes } = await bulk.run('exportRecording', { place, target });
      return { folder: target, frames, bytes };
    },
  };
}

async function recordingPlace(
  { store, recordings, readOnly, access }: HandlerServices,
  { runId, ordinal, attempt }: EpisodeAddress,
): Promise<RecordingPlace> {
  const { plan } = await store.readRecord(runId);
  const atPlace = plan[ordinal];
  const planned =
    atPlace?.ordinal === ordinal ? atPlace : plan.find((episode) => episode.ordinal === ordinal);
  if (!planned) throw new StudioError('not_found', `Run ${runId} has no episode ${ordinal}.`);
  // A key out of an imported bundle is somebody else's text.
  if (!episodeKeyName.test(planned.key))
    throw new StudioError('corrupt', `The key of episode ${ordinal} of run ${runId} is no folder name.`);
  const episodeFolder = path.join(store.folderOf(runId), 'episodes', planned.key);
  if (!readOnly) await recordings.inOrder(episodeFolder);
  const indexRoot = readOnly
    ? path.join(tmpdir(), `agentcanvas-index-${path.basename(access.workspace.folder)}`)
    : undefined;
  return {
    runId,
    key: planned.key,
    episodeFolder,
    ...(attempt === undefined ? {} : { attempt }),
    ...(indexRoot ? { indexRoot } : {}),
  };
}

interface Described {
  readonly address: EpisodeAddress;
  readonly place: RecordingPlace;
  readonly opened: OpenRecording;
}

async function describe(
  services: HandlerServices,
  { address, place, opened }: Described,
): Promise<OpenedRecording> {
  const { header, index, attempt } = opened;
  const { store } = services;
  const [record, row] = await Promise.all([store.readRecord(address.runId), episodeRowOf(store, address)]);
  const attempts = await attemptsOf(services, { address, place, opened, row });
  const own = attempts.find((known) => known.attempt === attempt)?.row ?? row;
  return {
    runId: address.runId,
    ordinal: address.ordinal,
    key: place.key,
    attempt,
    attempts: attempts.map((known) => ({
      attempt: known.attempt,
      status: known.row?.status ?? (known.attempt === attempt ? (own?.status ?? null) : null),
      isKept: known.isKept,
    })),
    episodeId: row?.episodeId ?? null,
    sceneId: row?.sceneId ?? null,
    instruction: row?.instruction ?? null,
    status: own?.status ?? null,
    metrics: own?.metrics ?? {},
    errorMessage: errorOf(own),
    graphName: record.graphName,
    steps: index.steps,
    lines: index.lines,
    isIndexed: index.isComplete,
    logBytes: index.logBytes,
    indexedBytes: index.indexedBytes,
    isCut: header?.isCut ?? false,
    streams: header?.streams ?? [],
    nodes: index.nodes,
    map: header ? mapOf(header, addressesOf(place)) : null,
  };
}

function errorOf(row: EpisodeAttempt | EpisodeRow | undefined): string | null {
  if (!row) return null;
  return 'errorMessage' in row ? row.errorMessage : (row.error?.message ?? null);
}

/** The journal is read only where there is more than one: nearly all episodes have one attempt. */
async function attemptsOf(
  { store, bulk }: HandlerServices,
  { address, place, opened, row }: Described & { readonly row: EpisodeRow | undefined },
): Promise<readonly AttemptOnRecord[]> {
  const isOnly = opened.attempt === 1 && address.attempt === undefined && (row?.attempts ?? 0) <= 1;
  if (isOnly) return [{ attempt: 1, row: null, isKept: true }];
  const { episodeFolder } = place;
  const { runId, ordinal } = address;
  return bulk.run('episodeAttempts', { folder: store.folderOf(runId), ordinal, episodeFolder });
}

async function episodeRowOf(
  store: HandlerServices['store'],
  { runId, ordinal }: EpisodeAddress,
): Promise<EpisodeRow | undefined> {
  const filters = [{ column: 'ordinal', in: [ordinal] }];
  return (await store.listEpisodes(runId, { filters, limit: 1 })).items[0];
}

/** What somebody asks to see waits for one slice at most. */
const sliceBytes = 16 * 2 ** 20;

/** Slices in turn with other work of the thread; one loop per recording. */
class BackgroundIndexing {
  readonly #services: Pick<HandlerServices, 'bulk' | 'logger'>;
  readonly #open = new Set<string>();

  constructor(services: Pick<HandlerServices, 'bulk' | 'logger'>) {
    this.#services = services;
  }

  goOn(place: RecordingPlace): void {
    const name = `${place.episodeFolder} ${place.attempt ?? ''}`;
    if (this.#open.has(name)) return;
    this.#open.add(name);
    void this.#run(place).finally(() => this.#open.delete(name));
  }

  async #run(place: RecordingPlace): Promise<void> {
    const { bulk, logger } = this.#services;
    try {
      for (let isComplete = false; !isComplete;)
        isComplete = (await bulk.run('openRecording', { place, budgetBytes: sliceBytes })).index.isComplete;
    } catch (error) {
      // The next look at it says what is wrong.
      logger.warn('a log could not be indexed', { folder: place.episodeFolder, error: messageOf(error) });
    }
  }
}
