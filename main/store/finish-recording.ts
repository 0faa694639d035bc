// Puts a kept recording in order: pictures become PNG files named by their content, long texts files beside them, the
// log refers to them and gets its index. Begins anew after a crash; the scratch is removed last.
import { join } from 'node:path';
import { sha256 } from '../base/stable-hash.ts';
import { dtypes, Tensor, type DType } from '../base/tensor.ts';
import { fromFileCase, toFileCase } from '../contract/casing.ts';
import { readLines } from './journal-lines.ts';
import { completeState, lineFacts, LogIndexBuilder, writeIndexState } from './log-index.ts';
import type { FileHandlePort, FileSystemPort } from './ports.ts';
import {
  arrayCell,
  attemptFolder,
  jsonCell,
  recordingFiles,
  replayHeader,
  scratchFolderName,
  textCell,
  type ReplayHeader,
} from './recording-format.ts';
import { encodePicture, pictureOf } from './tensor-image.ts';

/**
 * Every recording of the episode that was kept and is still scratch, in the order of the attempts. Two at once would move
 * the same files: only the engine's `Recordings` asks for it, one turn per episode.
 */
export async function finishRecordings(fileSystem: FileSystemPort, episodeFolder: string): Promise<number> {
  const entries = await fileSystem.listFolder(episodeFolder);
  const scratches = entries
    .flatMap(({ name, isFolder }) => {
      const match = isFolder ? scratchFolderName.exec(name) : null;
      return match ? [{ name, attempt: Number(match[1]), epoch: Number(match[2]) }] : [];
    })
    .sort((a, b) => a.attempt - b.attempt || a.epoch - b.epoch);
  let finished = 0;
  for (const { name } of scratches) {
    const scratch = join(episodeFolder, name);
    // Without its header it is still being made, or its episode died with the engine.
    const header = await readHeader(fileSystem, scratch);
    if (!header) continue;
    await finishScratch(fileSystem, { episodeFolder, scratch, header });
    finished++;
  }
  return finished;
}

export async function readHeader(
  fileSystem: FileSystemPort,
  folder: string,
): Promise<ReplayHeader | undefined> {
  const path = join(folder, recordingFiles.header);
  if (!(await fileSystem.stat(path))) return undefined;
  try {
    const json: unknown = JSON.parse(Buffer.from(await fileSystem.readFile(path)).toString('utf8'));
    return replayHeader.parse(fromFileCase(replayHeader, json));
  } catch {
    return undefined;
  }
}

interface Scratch {
  readonly episodeFolder: string;
  readonly scratch: string;
  readonly header: ReplayHeader;
}

async function finishScratch(fileSystem: FileSystemPort, input: Scratch): Promise<void> {
  const { episodeFolder, scratch } = input;
  const final = join(scratch, 'final');
  await fileSystem.removeFolder(final);
  await fileSystem.makeFolder(join(final, recordingFiles.assets));
  const header = await writeFinal(fileSystem, input, final);
  await moveEarlier(fileSystem, episodeFolder);
  for (const name of [
    recordingFiles.assets,
    recordingFiles.log,
    recordingFiles.index,
    recordingFiles.indexState,
  ])
    await fileSystem.rename(join(final, name), join(episodeFolder, name));
  // Its presence says that the rest is there.
  await writeFile(
    fileSystem,
    join(final, recordingFiles.header),
    JSON.stringify(toFileCase(replayHeader, header)),
  );
  await fileSystem.rename(join(final, recordingFiles.header), join(episodeFolder, recordingFiles.header));
  await fileSystem.removeFolder(scratch);
}

/** An attempt that was kept before moves aside. What a crash left half moved has no header and is overwritten. */
async function moveEarlier(fileSystem: FileSystemPort, episodeFolder: string): Promise<void> {
  const earlier = await readHeader(fileSystem, episodeFolder);
  if (!earlier) {
    await fileSystem.removeFolder(join(episodeFolder, recordingFiles.assets));
    return;
  }
  const aside = attemptFolder(episodeFolder, earlier.attempt);
  await fileSystem.removeFolder(aside);
  await fileSystem.makeFolder(aside);
  const { header, log, index, indexState, assets } = recordingFiles;
  for (const name of [assets, log, index, indexState, header])
    await fileSystem.rename(join(episodeFolder, name), join(aside, name));
}

async function writeFinal(fileSystem: FileSystemPort, input: Scratch, final: string): Promise<ReplayHeader> {
  const { scratch, header } = input;
  const blobsPath = join(scratch, recordingFiles.blobs);
  const blobs = (await fileSystem.stat(blobsPath)) ? await fileSystem.open(blobsPath, 'read') : null;
  const source = await fileSystem.open(join(scratch, recordingFiles.log), 'read');
  const target = await fileSystem.open(join(final, recordingFiles.log), 'create');
  const assets = new AssetWriter(fileSystem, join(final, recordingFiles.assets), blobs);
  const builder = new LogIndexBuilder();
  let offset = 0;
  try {
    for await (const batch of readLines(source)) {
      const lines: Buffer[] = [];
      for (const { text, terminated } of batch) {
        if (!terminated) continue;
        const line = Buffer.from(`${JSON.stringify(await assets.resolveLine(JSON.parse(text)))}\n`);
        builder.add(offset, lineFacts(line.subarray(0, line.length - 1)));
        offset += line.length;
        lines.push(line);
      }
      await target.write(Buffer.concat(lines));
    }
  } finally {
    await Promise.all([blobs?.close(), source.close(), target.close()]);
  }
  await writeFile(fileSystem, join(final, recordingFiles.index), builder.take());
  const log = await fileSystem.stat(join(final, recordingFiles.log));
  await writeIndexState(fileSystem, final, completeState(builder, log ?? { bytes: offset, modifiedMs: 0 }));
  const { lines, steps } = builder;
  return { ...header, lines, steps, streams: assets.streams(), mapImage: assets.mapImage };
}

async function writeFile(
  fileSystem: FileSystemPort,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const handle = await fileSystem.open(path, 'create');
  try {
    await handle.write(typeof content === 'string' ? Buffer.from(content) : content);
  } finally {
    await handle.close();
  }
}

type Members = Record<string, unknown>;
type ResolvedLine = { readonly node?: unknown; readonly in?: object; readonly out?: unknown };

/** Replaces places in the scratch by names of files, writing each content once. */
class AssetWriter {
  readonly #fileSystem: FileSystemPort;
  readonly #folder: string;
  readonly #blobs: FileHandlePort | null;
  readonly #byPlace = new Map<number, Members>();
  readonly #byContent = new Map<string, Members>();
  readonly #written = new Set<string>();
  readonly #streams = new Map<string, ReplayHeader['streams'][number]>();
  mapImage: string | null = null;

  constructor(fileSystem: FileSystemPort, folder: string, blobs: FileHandlePort | null) {
    this.#fileSystem = fileSystem;
    this.#folder = folder;
    this.#blobs = blobs;
  }

  streams(): ReplayHeader['streams'] {
    return [...this.#streams.values()];
  }

  async resolveLine(line: unknown): Promise<unknown> {
    const resolved = await this.#resolve(line);
    this.#notePictures(resolved as ResolvedLine);
    return resolved;
  }

  async #resolve(value: unknown): Promise<unknown> {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(typeof item === 'object' ? await this.#resolve(item) : item);
      return items;
    }
    const cell = await this.#cell(value);
    if (cell) return cell;
    const members: Members = {};
    for (const [name, member] of Object.entries(value))
      members[name] = typeof member === 'object' ? await this.#resolve(member) : member;
    return members;
  }

  /** Undefined for what is no reference. */
  async #cell(value: object): Promise<Members | undefined> {
    if ('$array' in value) return this.#arrayCell(value);
    if ('$text' in value) {
      const { $text } = textCell.parse(value);
      return { $text: await this.#blobCell($text, '.txt') };
    }
    if ('$json' in value) {
      const { $json } = jsonCell.parse(value);
      return { $json: await this.#blobCell($json, '.json') };
    }
    return undefined;
  }

  async #arrayCell(value: object): Promise<Members> {
    const { $array } = arrayCell.parse(value);
    const { at, bytes, ...rest } = $array;
    if (at === undefined || bytes === undefined) return { $array };
    const known = this.#byPlace.get(at);
    if (known) return { $array: { ...rest, ...known } };
    const raw = await this.#read(at, bytes);
    const key = `${rest.dtype} ${rest.shape.join('x')} ${sha256(raw)}`;
    const same = this.#byContent.get(key) ?? (await this.#writeArray(rest, raw));
    this.#byPlace.set(at, same);
    this.#byContent.set(key, same);
    return { $array: { ...rest, ...same } };
  }

  async #writeArray(array: { dtype: string; shape: number[] }, raw: Uint8Array): Promise<Members> {
    const dtype = dtypes.find((known): known is DType => known === array.dtype) ?? 'uint8';
    const tensor = new Tensor(dtype, array.shape, raw);
    const picture = pictureOf(tensor);
    if (!picture) return { asset: await this.#write(raw, '.bin'), bytes: raw.length };
    const { png, low, high } = encodePicture(tensor, picture);
    const range = picture.isDepth ? { low, high } : {};
    const image = picture.isDepth ? 'depth' : 'rgb';
    return { asset: await this.#write(png, '.png'), bytes: png.length, image, ...range };
  }

  async #blobCell(
    cell: { at?: number | undefined; bytes?: number | undefined; [name: string]: unknown },
    extension: string,
  ): Promise<Members> {
    const { at, bytes, ...rest } = cell;
    if (at === undefined || bytes === undefined) return cell;
    const asset = await this.#write(await this.#read(at, bytes), extension);
    return { ...rest, asset, bytes };
  }

  async #read(at: number, bytes: number): Promise<Uint8Array> {
    // Memory of its own: a view of numbers must be aligned.
    const target = Buffer.alloc(bytes);
    await this.#blobs?.read(target, at);
    return target;
  }

  async #write(content: Uint8Array, extension: string): Promise<string> {
    const name = sha256(content) + extension;
    if (this.#written.has(name)) return name;
    await writeFile(this.#fileSystem, join(this.#folder, name), content);
    this.#written.add(name);
    return name;
  }

  /** A picture that came in and is only handed on is shown where it was made. */
  #notePictures({ node, in: inputs, out }: ResolvedLine): void {
    if (typeof out !== 'object' || out === null) return;
    const handedOn = new Set(Object.values(inputs ?? {}).map(assetName));
    const hasMap = Object.values(out).some(isMapCell);
    for (const [port, value] of Object.entries(out)) {
      const cell = arrayCell.safeParse(value);
      const { image, shape, asset } = cell.data?.$array ?? {};
      if (!image || !shape || asset === undefined || handedOn.has(asset)) continue;
      if (hasMap && image === 'rgb') this.mapImage = asset;
      const key = `${String(node)} ${port}`;
      const [height = 0, width = 0] = shape;
      this.#streams.set(key, { nodeId: String(node), port, isDepth: image === 'depth', width, height });
    }
  }
}

function assetName(value: unknown): string | undefined {
  return arrayCell.safeParse(value).data?.$array.asset;
}

/** What a map node gives beside its picture: clipped JSON, or the object itself. */
function isMapCell(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('reference_path' in value) return true;
  const cell = jsonCell.safeParse(value);
  return cell.success && cell.data.$json.start.includes('"bounds"');
}
