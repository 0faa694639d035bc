// Reads a recorded episode: opened at once, paged by step and line through the log's index. Runs in the bulk thread;
// everything it answers is bounded, whatever the log holds.
import { join } from 'node:path';
import { StudioError } from '../base/errors.ts';
import { sha256 } from '../base/stable-hash.ts';
import type { RecordedFiring, RecordedStep } from '../contract/replay.ts';
import { readHeader } from './finish-recording.ts';
import { indexLogSlice, type LogIndexState } from './log-index.ts';
import { LogReader } from './log-reader.ts';
import type { FileSystemPort } from './ports.ts';
import { parseLogLine, toRecordedFiring, type AddressOf } from './recorded-values.ts';
import {
  attemptFolder,
  attemptFolderName,
  recordingFiles,
  scratchFolderName,
  type ReplayHeader,
} from './recording-format.ts';
import { stepOf } from './recorded-steps.ts';

export interface RecordingPlace {
  readonly runId: string;
  readonly key: string;
  readonly episodeFolder: string;
  /** Default: the last one that was kept. */
  readonly attempt?: number | undefined;
  /** Where indexes go when the workspace may not be written to. */
  readonly indexRoot?: string | undefined;
}

/** Of a log that was never indexed: the first screen must not wait for more. */
const openingBudgetBytes = 8 * 2 ** 20;

export interface OpenRecording {
  readonly header: ReplayHeader | null;
  readonly attempt: number;
  readonly index: LogIndexState;
}

/** `not_found` when nothing of the episode was kept and put in order. */
export async function openRecording(
  fileSystem: FileSystemPort,
  place: RecordingPlace,
  budgetBytes = openingBudgetBytes,
): Promise<OpenRecording> {
  const found = await locate(fileSystem, place);
  const logPath = join(found.folder, recordingFiles.log);
  await fileSystem.makeFolder(found.indexFolder);
  const index = await indexLogSlice(fileSystem, { logPath, indexFolder: found.indexFolder, budgetBytes });
  return { header: found.header, attempt: found.attempt, index };
}

interface FoundRecording {
  readonly folder: string;
  readonly indexFolder: string;
  readonly attempt: number;
  readonly header: ReplayHeader | null;
}

async function locate(fileSystem: FileSystemPort, place: RecordingPlace): Promise<FoundRecording> {
  const { episodeFolder, attempt, indexRoot } = place;
  const latest = (await readHeader(fileSystem, episodeFolder)) ?? null;
  const isLatest = attempt === undefined || latest?.attempt === attempt;
  const folder = isLatest ? episodeFolder : attemptFolder(episodeFolder, attempt);
  if (!(await fileSystem.stat(join(folder, recordingFiles.log)))) {
    throw new StudioError(
      'not_found',
      'Nothing of this episode was kept. Run it again with `--record all` to see what happens in it.',
    );
  }
  const header = isLatest ? latest : ((await readHeader(fileSystem, folder)) ?? null);
  const indexFolder = indexRoot === undefined ? folder : join(indexRoot, sha256(folder).slice(0, 32));
  return { folder, indexFolder, attempt: header?.attempt ?? attempt ?? 1, header };
}

/** Attempts of an episode that were kept, first to last; those still to be put in order count. */
export async function keptAttempts(fileSystem: FileSystemPort, episodeFolder: string): Promise<number[]> {
  const entries = await fileSystem.listFolder(episodeFolder);
  const attempts = entries.flatMap(({ name }) => {
    const match = attemptFolderName.exec(name) ?? scratchFolderName.exec(name);
    return match ? [Number(match[1])] : [];
  });
  const latest = await readHeader(fileSystem, episodeFolder);
  const isForeign = !latest && entries.some(({ name }) => name === recordingFiles.log);
  if (latest || isForeign) attempts.push(latest?.attempt ?? 1);
  return [...new Set(attempts)].sort((a, b) => a - b);
}

async function withReader<T>(
  fileSystem: FileSystemPort,
  place: RecordingPlace,
  use: (
    reader: LogReader,
    context: { addressOf: AddressOf; header: ReplayHeader | null; state: LogIndexState },
  ) => Promise<T>,
): Promise<T> {
  const found = await locate(fileSystem, place);
  const logPath = join(found.folder, recordingFiles.log);
  await fileSystem.makeFolder(found.indexFolder);
  const request = { logPath, indexFolder: found.indexFolder };
  // The part that is indexed so far is what there is to read.
  const state = await indexLogSlice(fileSystem, { ...request, budgetBytes: 0 });
  await using reader = await LogReader.open(fileSystem, { ...request, state });
  return await use(reader, { addressOf: addressesOf(place), header: found.header, state });
}

export function addressesOf({ runId, key }: Pick<RecordingPlace, 'runId' | 'key'>): AddressOf {
  return (asset) => `/assets/${encodeURIComponent(runId)}/${encodeURIComponent(key)}/${asset}`;
}

/** More firings than this in a step are counted, not looked at. */
const firingsPerStep = 2000;
/** Firings read for one page of steps, however many steps were asked for: at least one step is given. */
const firingsPerPage = 4000;

export function readSteps(
  fileSystem: FileSystemPort,
  place: RecordingPlace,
  page: { readonly fromStep: number; readonly limit: number },
): Promise<RecordedStep[]> {
  return withReader(fileSystem, place, async (reader, { addressOf, header, state }) => {
    const steps: RecordedStep[] = [];
    let line = await reader.firstLineOf(page.fromStep);
    let read = 0;
    for (let step = page.fromStep; step < state.steps && steps.length < page.limit; step++) {
      const end = await reader.firstLineOf(step + 1);
      if (steps.length > 0 && read + end - line > firingsPerPage) break;
      const rows = [];
      for await (const { value } of reader.values(line, Math.min(end, line + firingsPerStep)))
        rows.push(parseLogLine(value));
      steps.push(stepOf({ step, firings: end - line, rows, streams: header?.streams ?? [], addressOf }));
      read += end - line;
      line = end;
    }
    return steps;
  });
}

export function readFirings(
  fileSystem: FileSystemPort,
  place: RecordingPlace,
  page: { readonly step: number; readonly offset: number; readonly limit: number },
): Promise<{ firings: RecordedFiring[]; total: number }> {
  return withReader(fileSystem, place, async (reader, { addressOf }) => {
    const first = await reader.firstLineOf(page.step);
    const end = await reader.firstLineOf(page.step + 1);
    const from = Math.min(first + page.offset, end);
    const firings: RecordedFiring[] = [];
    for await (const { line, value } of reader.values(from, Math.min(from + page.limit, end)))
      firings.push(toRecordedFiring(line, value, addressOf));
    return { firings, total: end - first };
  });
}

/** Lines looked at for one page of a node's firings. */
const linesPerSearch = 200_000;

export function readLog(
  fileSystem: FileSystemPort,
  place: RecordingPlace,
  page: { readonly fromLine: number; readonly nodeId: string; readonly limit: number },
): Promise<{ firings: RecordedFiring[]; nextLine: number | null }> {
  return withReader(fileSystem, place, async (reader, { addressOf, state }) => {
    const wanted = page.nodeId === '' ? null : state.nodes.findIndex(({ nodeId }) => nodeId === page.nodeId);
    const firings: RecordedFiring[] = [];
    let line = page.fromLine;
    const searchEnd = Math.min(state.lines, page.fromLine + linesPerSearch);
    while (line < searchEnd && firings.length < page.limit) {
      const isWanted = wanted === null || (await reader.place(line)).node === wanted;
      if (isWanted)
        for await (const { value } of reader.values(line, line + 1))
          firings.push(toRecordedFiring(line, value, addressOf));
      line++;
    }
    return { firings, nextLine: line < state.lines ? line : null };
  });
}

/** One row per step, in slices; the whole log passes through memory line by line. */
export async function stepTable(fileSystem: FileSystemPort, place: RecordingPlace): Promise<string> {
  let table = 'step,at_ms,firings,errors,action,x,y,z\n';
  let from = 0;
  for (;;) {
    const steps = await readSteps(fileSystem, place, { fromStep: from, limit: 500 });
    if (steps.length === 0) return table;
    for (const { step, atMs, firings, errors, action, position } of steps) {
      const [x = '', y = '', z = ''] = position ?? [];
      const shown = /[",\n]/.test(action ?? '')
        ? `"${(action ?? '').replaceAll('"', '""')}"`
        : (action ?? '');
      const safe = /^[=+@\t\r]/.test(shown) || /^-\D/.test(shown) ? `'${shown}` : shown;
      table += `${step},${atMs},${firings},${errors},${safe},${x},${y},${z}\n`;
    }
    from = (steps.at(-1)?.step ?? from) + 1;
  }
}
