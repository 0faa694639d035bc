// Recording of a run's episodes: a line per firing and the arrays behind it go to a bounded scratch; when the episode
// ends it is dropped, or kept and put in order by the bulk thread. A problem here never fails or slows an episode.
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { messageOf, toStudioError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import { toFileCase } from '../contract/casing.ts';
import type { BulkWork } from '../store/bulk-work.ts';
import type { FileSystemPort, RunHandle } from '../store/ports.ts';
import { recordingFiles, replayHeader, scratchName } from '../store/recording-format.ts';
import { runFiles } from '../store/run-folder.ts';
import type { AttemptOutcome } from './attempt-row.ts';
import { RecordingBacklog } from './recording-backlog.ts';
import { FiringLog } from './recording-firings.ts';
import { LiveFrames, type LiveFrame } from './recording-live-frames.ts';
import { isFailure, isRecorded, sampledOrdinals } from './recording-policy.ts';
import { BlockPool, RecordingScratch, scratchLimits, type ScratchLimits } from './recording-scratch.ts';
import type { EpisodeRecording, RecordingPort } from './run-episode.ts';
import type { EpisodeRequest } from './ports.ts';

export interface RecordingsOptions {
  readonly fileSystem: FileSystemPort;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bulk: Pick<BulkWork, 'run'>;
  readonly limits?: ScratchLimits;
  /** Raw bytes of failures kept per run; later ones are not kept, and that is told once. */
  readonly failureBytesPerRun?: number;
  readonly onNotice?: (message: string, runId: string) => void;
  /** Takes secrets out of a text. */
  readonly redact?: (text: string) => string;
}

export interface Recordings extends AsyncDisposable {
  readonly port: (handle: RunHandle) => RecordingPort;
  /** What a worker's environment shows now; null when it has shown nothing. */
  frame(runId: string, worker: number): LiveFrame | null;
  /** Resolves when what was kept of the episode can be read: those of an engine that died are put in order now. */
  inOrder(episodeFolder: string): Promise<void>;
  /** The same for every episode of a run. */
  runInOrder(runFolder: string): Promise<void>;
  /** Resolves when every kept recording is in order. */
  settled(): Promise<void>;
}

const failureBytesPerRun = 8 * 2 ** 30;
const closingMs = 2000;

interface RunState {
  readonly handle: RunHandle;
  /** What an engine that died left behind is gone. */
  readonly swept: Promise<void>;
  readonly sampled: ReadonlySet<number> | null;
  readonly blocks: BlockPool;
  keptBytes: number;
  isFull: boolean;
}

export function createRecordings(options: RecordingsOptions): Recordings {
  const frames = new LiveFrames(options.clock);
  const backlog = new RecordingBacklog(options);
  return {
    port(handle) {
      let state: RunState | undefined;
      return {
        begin(request, executionId) {
          // The plan is fixed once the environment is loaded, after the port was made.
          state ??= {
            handle,
            swept: sweep(options, scratchFolder(handle)),
            sampled: sampledOrdinals(handle.record.config.recording, handle.record.plan),
            blocks: new BlockPool(),
            keptBytes: 0,
            isFull: false,
          };
          return beginEpisode({ options, frames, backlog, state, request, executionId });
        },
      };
    },
    frame: (runId, worker) => frames.frame(runId, worker),
    inOrder: (episodeFolder) => backlog.inOrder(episodeFolder),
    async runInOrder(runFolder) {
      const episodes = join(runFolder, runFiles.episodes);
      for (const { name, isFolder } of await options.fileSystem.listFolder(episodes))
        if (isFolder) await backlog.inOrder(join(episodes, name));
    },
    settled: () => backlog.settled(),
    async [Symbol.asyncDispose]() {
      // What is not in order by then is put in order when it is first opened.
      const { promise, resolve } = Promise.withResolvers<void>();
      using _timer = options.clock.after(closingMs, resolve);
      await Promise.race([backlog.settled(), promise]);
    },
  };
}

interface EpisodeParts {
  readonly options: RecordingsOptions;
  readonly frames: LiveFrames;
  readonly backlog: RecordingBacklog;
  readonly state: RunState;
  readonly request: EpisodeRequest;
  readonly executionId: string;
}

function beginEpisode(parts: EpisodeParts): EpisodeRecording {
  const { frames, state, request } = parts;
  const { record } = state.handle;
  const feed = frames.begin(record.runId, request.worker);
  const { ordinal } = request.episode;
  if (state.isFull || !isRecorded(record.config.recording, ordinal, state.sampled)) {
    return { listener: feed, finish: () => Promise.resolve('none') };
  }
  return recordEpisode(parts, feed);
}

function recordEpisode(parts: EpisodeParts, feed: ReturnType<LiveFrames['begin']>): EpisodeRecording {
  const { options, state, request } = parts;
  const { fileSystem, clock, logger } = options;
  const limits = options.limits ?? scratchLimits(state.handle.record.config.workerCount);
  const { episode, attempt, epoch } = request;
  const name = scratchName(attempt, epoch);
  const folder = join(scratchFolder(state.handle), `${episode.key}.${name}`);
  const scratch = new RecordingScratch({
    fileSystem,
    folder,
    limits,
    ready: state.swept,
    blocks: state.blocks,
  });
  const startedAt = new Date(clock.now()).toISOString();
  const log = new FiringLog(scratch, clock, options.redact);
  let ending: Promise<EpisodeAttempt['recording']> | undefined;
  const listener: EpisodeRecording['listener'] = {
    onFiringStart: (start) => log.begin(start),
    onFiring(firing) {
      feed.onFiring(firing);
      // A runner that hung while its attempt was ended may still wake up.
      if (ending === undefined) log.add(firing);
    },
    onViewer: (event) => feed.onViewer(event),
  };
  const end = async (outcome: AttemptOutcome | null): Promise<EpisodeAttempt['recording']> => {
    try {
      log.addOpen(endOf(request, outcome));
      if (log.lines > 0 && isWanted(parts, outcome))
        return await keep(parts, { log, scratch, name, startedAt });
      await scratch.discard();
      return scratch.hasFailed && isWanted(parts, outcome) ? 'failed' : 'none';
    } catch (error) {
      const runId = state.handle.record.runId;
      logger.warn('an episode could not be recorded', { runId, key: episode.key, error: messageOf(error) });
      await scratch.discard().catch(() => undefined);
      return 'failed';
    }
  };
  return { listener, finish: (outcome) => (ending ??= end(outcome)) };
}

interface Recorded {
  readonly log: FiringLog;
  readonly scratch: RecordingScratch;
  /** Of its folder in the episode's. */
  readonly name: string;
  readonly startedAt: string;
}

/** Moves the scratch to the episode, where it waits to be put in order. */
async function keep(parts: EpisodeParts, { log, scratch, name, startedAt }: Recorded): Promise<'kept'> {
  const { options, state, request } = parts;
  const { fileSystem } = options;
  const { episode, attempt, epoch } = request;
  const episodeFolder = state.handle.episodeFolder(episode.key);
  const header = replayHeader.parse({
    runId: state.handle.record.runId,
    ordinal: episode.ordinal,
    key: episode.key,
    attempt,
    epoch,
    startedAt,
    ...log.facts(),
    isCut: scratch.isCut,
  });
  const { bytes } = scratch;
  scratch.append(recordingFiles.header, Buffer.from(JSON.stringify(toFileCase(replayHeader, header))));
  await scratch.flush();
  await fileSystem.makeFolder(episodeFolder);
  await fileSystem.rename(scratch.folder, join(episodeFolder, name));
  await parts.backlog.add(episodeFolder);
  noteKept(parts, bytes);
  return 'kept';
}

function scratchFolder(handle: RunHandle): string {
  return join(handle.folder, 'scratch');
}

async function sweep({ fileSystem, logger }: RecordingsOptions, folder: string): Promise<void> {
  try {
    await fileSystem.removeFolder(folder);
  } catch (error) {
    logger.warn('old recordings could not be removed', { folder, error: messageOf(error) });
  }
}

/** Why a firing that was still going on never ended. */
function endOf({ signal }: EpisodeRequest, outcome: AttemptOutcome | null): string {
  if (signal.aborted) return `Did not end: ${messageOf(signal.reason)}`;
  return `Did not end: ${outcome?.error?.message ?? 'the episode was over'}`;
}

/** A cancelled attempt is no failure: nobody will look for it. */
function isWanted({ state, request }: EpisodeParts, outcome: AttemptOutcome | null): boolean {
  const { record } = state.handle;
  if (outcome === null && toStudioError(request.signal.reason).code === 'aborted') return false;
  return record.config.recording !== 'failures' || isFailure(outcome, record.metrics);
}

function noteKept({ options, state }: EpisodeParts, bytes: number): void {
  const { record } = state.handle;
  const limit = options.failureBytesPerRun ?? failureBytesPerRun;
  state.keptBytes += bytes;
  if (record.config.recording !== 'failures' || state.keptBytes < limit || state.isFull) return;
  state.isFull = true;
  const message = `Recordings of failures reached ${Math.round(limit / 2 ** 20)} MB: later episodes of this run are not recorded. Record a sample or all of them to choose yourself.`;
  options.onNotice?.(message, record.runId);
}
