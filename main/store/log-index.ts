// Where each line of a log.jsonl begins, with its step and node: 16 bytes a line, kept beside the log. Built in slices,
// so that a log of a gigabyte shows its first screen at once and nothing ever reads it whole.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { FileHandlePort, FileSystemPort } from './ports.ts';
import { headerNode, recordingFiles } from './recording-format.ts';

export const recordBytes = 16;
/** Set where the firing failed. */
export const errorFlag = 1;
const mostNodes = 65_535;
const newline = 10;
const chunkBytes = 1 << 20;
const prefixBytes = 600;
const indexVersion = 1;
/** So that whoever looks first sees something. */
const smallestBudgetBytes = 2 ** 20;

const indexState = z.object({
  version: z.literal(indexVersion),
  logBytes: z.number(),
  logModifiedMs: z.number(),
  indexedBytes: z.number(),
  lines: z.number().int(),
  steps: z.number().int(),
  isComplete: z.boolean(),
  nodes: z.array(headerNode),
});
export type LogIndexState = z.infer<typeof indexState>;

export interface LogPlace {
  readonly offset: number;
  readonly step: number;
  /** Index into `nodes`. */
  readonly node: number;
  readonly flags: number;
}

interface LineFacts {
  readonly step: number;
  readonly node: string;
  readonly type: string;
  readonly path: string;
  readonly ms: number;
  readonly isError: boolean;
}

/** Gathers records; also used while a recording is written, when every line is at hand anyway. */
export class LogIndexBuilder {
  readonly nodes: LogIndexState['nodes'];
  readonly #places = new Map<string, number>();
  #parts: Buffer[] = [];
  #block = Buffer.allocUnsafe(recordBytes * 4096);
  #used = 0;
  steps: number;
  lines: number;

  constructor(from?: LogIndexState) {
    this.nodes = from ? from.nodes.map((node) => ({ ...node })) : [];
    this.nodes.forEach((node, place) => this.#places.set(node.nodeId, place));
    this.steps = from?.steps ?? 0;
    this.lines = from?.lines ?? 0;
  }

  add(offset: number, facts: LineFacts): void {
    if (this.#used === this.#block.length) {
      this.#parts.push(this.#block);
      this.#block = Buffer.allocUnsafe(recordBytes * 4096);
      this.#used = 0;
    }
    const place = this.#placeOf(facts);
    const node = this.nodes[place];
    if (node) {
      node.firings++;
      node.totalMs += facts.ms;
    }
    // Steps never fall, so that they can be searched.
    const step = Math.max(facts.step, this.steps - 1, 0);
    this.#block.writeDoubleLE(offset, this.#used);
    this.#block.writeUInt32LE(step, this.#used + 8);
    this.#block.writeUInt16LE(place, this.#used + 12);
    this.#block.writeUInt16LE(facts.isError ? errorFlag : 0, this.#used + 14);
    this.#used += recordBytes;
    this.steps = Math.max(this.steps, step + 1);
    this.lines++;
  }

  /** Records added since the last call. */
  take(): Buffer {
    const bytes = Buffer.concat([...this.#parts, this.#block.subarray(0, this.#used)]);
    this.#parts = [];
    this.#used = 0;
    return bytes;
  }

  #placeOf({ node, type, path }: LineFacts): number {
    const known = this.#places.get(node);
    if (known !== undefined) return known;
    if (this.nodes.length >= mostNodes) return mostNodes - 1;
    this.nodes.push({
      nodeId: node,
      nodeType: type,
      path: path === '' ? node : path,
      firings: 0,
      totalMs: 0,
    });
    this.#places.set(node, this.nodes.length - 1);
    return this.nodes.length - 1;
  }
}

export interface IndexSliceRequest {
  readonly logPath: string;
  /** Usually the log's own folder. */
  readonly indexFolder: string;
  /** How much more of the log to read; 0: only if nothing of it is indexed yet. */
  readonly budgetBytes: number;
}

/** Goes on where the last slice ended; begins anew when the log is another one than was indexed. */
export async function indexLogSlice(
  fileSystem: FileSystemPort,
  request: IndexSliceRequest,
): Promise<LogIndexState> {
  const { logPath, indexFolder, budgetBytes } = request;
  const log = await fileSystem.stat(logPath);
  const stamp = { logBytes: log?.bytes ?? 0, logModifiedMs: log?.modifiedMs ?? 0 };
  const known = await readIndexState(fileSystem, indexFolder);
  const isSame = known?.logBytes === stamp.logBytes && known.logModifiedMs === stamp.logModifiedMs;
  const isEnough = known?.isComplete || (budgetBytes === 0 && (known?.lines ?? 0) > 0);
  if (known && isSame && isEnough) return known;
  const from = known && isSame ? known : undefined;
  const indexPath = join(indexFolder, recordingFiles.index);
  if (!from) await fileSystem.removeFile(indexPath);
  const builder = new LogIndexBuilder(from);
  const handle = await fileSystem.open(logPath, 'read');
  let indexedBytes = from?.indexedBytes ?? 0;
  try {
    indexedBytes = await scan(handle, {
      builder,
      from: indexedBytes,
      until: indexedBytes + Math.max(budgetBytes, smallestBudgetBytes),
    });
  } finally {
    await handle.close();
  }
  const isComplete = indexedBytes >= stamp.logBytes;
  const state: LogIndexState = {
    version: indexVersion,
    ...stamp,
    indexedBytes,
    lines: builder.lines,
    steps: builder.steps,
    isComplete,
    nodes: builder.nodes,
  };
  await appendRecords(fileSystem, { indexPath, linesBefore: from?.lines ?? 0, records: builder.take() });
  await writeIndexState(fileSystem, indexFolder, state);
  return state;
}

interface ScanRequest {
  readonly builder: LogIndexBuilder;
  readonly from: number;
  readonly until: number;
}

/** Resolves with the position after the last whole line that was read (or the end, for a last line without newline). */
async function scan(handle: FileHandlePort, { builder, from, until }: ScanRequest): Promise<number> {
  let position = from;
  let carried = Buffer.alloc(0);
  while (position - carried.length < until) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const length = await handle.read(chunk, position);
    if (length === 0) {
      if (carried.length > 0) builder.add(position - carried.length, lineFacts(carried));
      return position;
    }
    const bytes =
      carried.length === 0 ? chunk.subarray(0, length) : Buffer.concat([carried, chunk.subarray(0, length)]);
    const base = position - carried.length;
    let start = 0;
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, start)) {
      if (at > start) builder.add(base + start, lineFacts(bytes.subarray(start, at)));
      start = at + 1;
    }
    carried = Buffer.from(bytes.subarray(start));
    position += length;
  }
  return position - carried.length;
}

const linePrefix =
  /^\{"step":(\d{1,9}),"node":"([^"\\]*)","type":"([^"\\]*)"(?:,"path":"([^"\\]*)")?,"phase":"[a-z]*","at":[-\d.e+]*,"ms":([-\d.e+]*)(,"error":)?/;

/** From the beginning of the line where it is one of ours, else from all of it. */
export function lineFacts(line: Buffer): LineFacts {
  const match = linePrefix.exec(line.toString('utf8', 0, Math.min(line.length, prefixBytes)));
  if (match) {
    const [, step, node = '', type = '', path = '', ms, error] = match;
    return { step: Number(step), node, type, path, ms: Number(ms) || 0, isError: error !== undefined };
  }
  return foreignFacts(line);
}

const foreignLine = z.object({
  step: z.number().int().min(0).max(0xffff_fffe).catch(0),
  node: z.string().catch(''),
  node_id: z.string().optional(),
  type: z.string().catch(''),
  path: z.string().catch(''),
  ms: z.number().catch(0),
  error: z.unknown().optional(),
});

function foreignFacts(line: Buffer): LineFacts {
  let json: unknown;
  try {
    json = JSON.parse(line.toString('utf8'));
  } catch {
    json = {};
  }
  const parsed = foreignLine.safeParse(json);
  if (!parsed.success) return { step: 0, node: '', type: '', path: '', ms: 0, isError: false };
  const { step, node, node_id: nodeId, type, path, ms, error } = parsed.data;
  const isError = error !== undefined && error !== null;
  return { step, node: node || (nodeId ?? ''), type, path, ms, isError };
}

async function appendRecords(
  fileSystem: FileSystemPort,
  request: { readonly indexPath: string; readonly linesBefore: number; readonly records: Uint8Array },
): Promise<void> {
  const handle = await fileSystem.open(request.indexPath, 'append');
  try {
    // A slice whose state was never written is written again.
    await handle.truncate(request.linesBefore * recordBytes);
    await handle.write(request.records);
  } finally {
    await handle.close();
  }
}

export async function readIndexState(
  fileSystem: FileSystemPort,
  folder: string,
): Promise<LogIndexState | undefined> {
  const path = join(folder, recordingFiles.indexState);
  if (!(await fileSystem.stat(path))) return undefined;
  try {
    return indexState.parse(JSON.parse(Buffer.from(await fileSystem.readFile(path)).toString('utf8')));
  } catch {
    // It is derived: built again.
    return undefined;
  }
}

export async function writeIndexState(
  fileSystem: FileSystemPort,
  folder: string,
  state: LogIndexState,
): Promise<void> {
  // Replaced, but not forced to the device: it is derived and is built again when it does not parse.
  const path = join(folder, recordingFiles.indexState);
  const temporary = `${path}.${randomBytes(4).toString('hex')}.part`;
  const handle = await fileSystem.open(temporary, 'create');
  try {
    await handle.write(Buffer.from(JSON.stringify(state)));
  } finally {
    await handle.close();
  }
  await fileSystem.rename(temporary, path);
}

export function completeState(
  builder: LogIndexBuilder,
  log: { readonly bytes: number; readonly modifiedMs: number },
): LogIndexState {
  const { lines, steps, nodes } = builder;
  const { bytes, modifiedMs } = log;
  return {
    version: indexVersion,
    logBytes: bytes,
    logModifiedMs: modifiedMs,
    indexedBytes: bytes,
    lines,
    steps,
    isComplete: true,
    nodes,
  };
}
