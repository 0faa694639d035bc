// Bulk tasks about recorded episodes.
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StudioError } from '../base/errors.ts';
import type { RecordedEpisode, RecordedFiring, RecordedStep } from '../contract/replay.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import { recordedKeys } from './compare-tasks.ts';
import { finishRecordings } from './finish-recording.ts';
import {
  keptAttempts,
  openRecording,
  readFirings,
  readLog,
  readSteps,
  stepTable,
  type OpenRecording,
  type RecordingPlace,
} from './read-recording.ts';
import { attemptFolder, recordingFiles } from './recording-format.ts';
import { runFiles } from './run-folder.ts';
import type { RunReader } from './run-reader.ts';
import { readAttempts } from './run-rows.ts';

export interface RecordingTasks {
  /** Answers how many recordings of the episode were put in order. */
  finishRecordings: { input: { readonly episodeFolder: string }; output: number };
  recordedEpisodes: {
    input: {
      readonly folder: string;
      readonly statuses: readonly string[];
      readonly offset: number;
      readonly limit: number;
    };
    output: { readonly rows: readonly RecordedEpisode[]; readonly total: number };
  };
  openRecording: {
    input: { readonly place: RecordingPlace; readonly budgetBytes?: number };
    output: OpenRecording;
  };
  recordingSteps: {
    input: { readonly place: RecordingPlace; readonly fromStep: number; readonly limit: number };
    output: readonly RecordedStep[];
  };
  recordingFirings: {
    input: {
      readonly place: RecordingPlace;
      readonly step: number;
      readonly offset: number;
      readonly limit: number;
    };
    output: { readonly firings: readonly RecordedFiring[]; readonly total: number };
  };
  recordingLog: {
    input: {
      readonly place: RecordingPlace;
      readonly fromLine: number;
      readonly nodeId: string;
      readonly limit: number;
    };
    output: { readonly firings: readonly RecordedFiring[]; readonly nextLine: number | null };
  };
  /** Attempts on record and attempts that were kept, first to last. */
  episodeAttempts: {
    input: { readonly folder: string; readonly ordinal: number; readonly episodeFolder: string };
    output: readonly AttemptOnRecord[];
  };
  recordingTable: { input: { readonly place: RecordingPlace }; output: string };
  exportRecording: {
    input: { readonly place: RecordingPlace; readonly target: string };
    output: { readonly frames: number; readonly bytes: number };
  };
}

export interface AttemptOnRecord {
  readonly attempt: number;
  /** Null when its line was never written. */
  readonly row: EpisodeAttempt | null;
  readonly isKept: boolean;
}

type Performers<Tasks> = {
  readonly [Name in keyof Tasks]: (
    runs: RunReader,
    input: Tasks[Name] extends { input: infer Input } ? Input : never,
  ) => Promise<Tasks[Name] extends { output: infer Output } ? Output : never>;
};

export const recordingTasks: Performers<RecordingTasks> = {
  finishRecordings: ({ fileSystem }, { episodeFolder }) => finishRecordings(fileSystem, episodeFolder),
  recordedEpisodes,
  openRecording: ({ fileSystem }, { place, budgetBytes }) => openRecording(fileSystem, place, budgetBytes),
  recordingSteps: ({ fileSystem }, { place, ...page }) => readSteps(fileSystem, place, page),
  recordingFirings: ({ fileSystem }, { place, ...page }) => readFirings(fileSystem, place, page),
  recordingLog: ({ fileSystem }, { place, ...page }) => readLog(fileSystem, place, page),
  episodeAttempts,
  recordingTable: ({ fileSystem }, { place }) => stepTable(fileSystem, place),
  exportRecording,
};

async function recordedEpisodes(
  runs: RunReader,
  { folder, statuses, offset, limit }: RecordingTasks['recordedEpisodes']['input'],
): Promise<RecordingTasks['recordedEpisodes']['output']> {
  const { record, finals } = await runs.read(folder);
  const keys = await recordedKeys(runs, folder);
  const rowOf = new Map(finals.map((row) => [row.ordinal, row]));
  const kept = record.plan.filter(({ key, ordinal }) => {
    if (!keys.has(key)) return false;
    return statuses.length === 0 || statuses.includes(rowOf.get(ordinal)?.status ?? 'pending');
  });
  const rows: RecordedEpisode[] = [];
  for (const { ordinal, key, episodeId, repeat } of kept.slice(offset, offset + limit)) {
    const row = rowOf.get(ordinal);
    rows.push({
      ordinal,
      key,
      attempts: await keptAttempts(runs.fileSystem, join(folder, runFiles.episodes, key)),
      episodeId: row?.episodeId ?? episodeId,
      sceneId: row?.sceneId ?? null,
      instruction: row?.instruction ?? null,
      repeat,
      status: row?.status ?? 'pending',
      metrics: row?.metrics ?? {},
      steps: row?.steps ?? null,
    });
  }
  return { rows, total: kept.length };
}

async function episodeAttempts(
  { fileSystem }: RunReader,
  { folder, ordinal, episodeFolder }: RecordingTasks['episodeAttempts']['input'],
): Promise<AttemptOnRecord[]> {
  const rows = new Map<number, EpisodeAttempt>();
  for await (const row of readAttempts(fileSystem, folder))
    if (row.ordinal === ordinal) rows.set(row.attempt, row);
  const kept = new Set(await keptAttempts(fileSystem, episodeFolder));
  return [...new Set([...rows.keys(), ...kept])]
    .sort((a, b) => a - b)
    .map((attempt) => ({ attempt, row: rows.get(attempt) ?? null, isKept: kept.has(attempt) }));
}

/** Frames by step and port, the log and a table of steps. The folder must not hold anything yet. */
async function exportRecording(
  { fileSystem }: RunReader,
  { place, target }: RecordingTasks['exportRecording']['input'],
): Promise<{ frames: number; bytes: number }> {
  let opened = await openRecording(fileSystem, place, Infinity);
  while (!opened.index.isComplete) opened = await openRecording(fileSystem, place, Infinity);
  await mkdir(target, { recursive: true });
  if ((await readdir(target)).length > 0)
    throw new StudioError('conflict', `${target} is not empty. Choose a new folder.`);
  const isEarlier =
    place.attempt !== undefined && (await fileSystem.stat(attemptFolder(place.episodeFolder, place.attempt)));
  const source =
    isEarlier && place.attempt !== undefined
      ? attemptFolder(place.episodeFolder, place.attempt)
      : place.episodeFolder;
  const streams = opened.header?.streams ?? [];
  await mkdir(join(target, 'frames'), { recursive: true });
  let frames = 0;
  let bytes = 0;
  for (let from = 0; from < opened.index.steps;) {
    const steps = await readSteps(fileSystem, place, { fromStep: from, limit: 500 });
    if (steps.length === 0) break;
    for (const { step, images } of steps) {
      for (const { stream, asset } of images) {
        const { nodeId = 'image', port = '' } = streams[stream] ?? {};
        const name = `${String(step).padStart(6, '0')}_${safeName(nodeId)}_${safeName(port)}.png`;
        const from = join(
          source,
          recordingFiles.assets,
          asset.address.slice(asset.address.lastIndexOf('/') + 1),
        );
        await copyFile(from, join(target, 'frames', name));
        frames++;
        bytes += asset.bytes;
      }
    }
    from = (steps.at(-1)?.step ?? from) + 1;
  }
  await copyFile(join(source, recordingFiles.log), join(target, recordingFiles.log));
  await writeFile(join(target, 'steps.csv'), await stepTable(fileSystem, place));
  return { frames, bytes: bytes + opened.index.logBytes };
}

function safeName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60);
}
