// Files that travel by address instead of in messages: assets of recorded episodes and finished exports to be read,
// uploads to be taken in. Addresses are checked part by part; nothing outside the three folders can be named.
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, readdir, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StudioError } from './base/errors.ts';
import { mimeTypeOfAsset } from './store/recorded-values.ts';
import { attemptFolderName, episodeKeyName, recordingFiles } from './store/recording-format.ts';
import { exportTypes } from './store/run-document.ts';

export interface MediaFile {
  readonly file: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** Content never changes under this address. */
  readonly immutable: boolean;
  /** Present: a file to save, not to show. */
  readonly downloadName: string | null;
}

export interface MediaFiles {
  /** The file of `/assets/<run>/<episode key>/<name>` or `/exports/<name>`; null when there is none. */
  resolve(urlPath: string): Promise<MediaFile | null>;
  /** Takes in a file; answers the name that an import refers to. */
  receive(fileName: string, content: Readable): Promise<string>;
  uploadPath(upload: string): string;
  dropUpload(upload: string): Promise<void>;
  readonly exportsFolder: string;
}

export interface MediaFolders {
  readonly runsFolder: string;
  readonly exportsFolder: string;
  readonly uploadsFolder: string;
  readonly largestUploadBytes?: number;
}

const runName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const exportName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/;
const uploadName = /^[0-9a-f]{16}-[A-Za-z0-9._-]{1,100}$/;
const defaultLargestUploadBytes = 16 * 2 ** 30;

export function createMediaFiles(folders: MediaFolders): MediaFiles {
  const { exportsFolder, uploadsFolder, largestUploadBytes = defaultLargestUploadBytes } = folders;
  const uploadPath = (upload: string): string => {
    if (!uploadName.test(upload)) throw new StudioError('invalid_input', 'That is no upload.');
    return path.join(uploadsFolder, upload);
  };
  return {
    exportsFolder,
    uploadPath,
    async resolve(urlPath) {
      const [kind, ...rest] = partsOf(urlPath);
      if (kind === 'assets') return resolveAsset(folders.runsFolder, rest);
      return kind === 'exports' ? resolveExport(exportsFolder, rest) : null;
    },
    async receive(fileName, content) {
      const safe = fileName.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(-100);
      const upload = `${randomBytes(8).toString('hex')}-${safe === '' ? 'file' : safe}`;
      await mkdir(uploadsFolder, { recursive: true });
      const target = uploadPath(upload);
      try {
        await pipeline(content, limited(largestUploadBytes), createWriteStream(target, { flags: 'wx' }));
      } catch (error) {
        await rm(target, { force: true });
        throw error;
      }
      return upload;
    },
    dropUpload: async (upload) => rm(uploadPath(upload), { force: true }),
  };
}

/** What an earlier session took in and nobody imported. */
export async function sweepUploads(uploadsFolder: string): Promise<void> {
  await rm(uploadsFolder, { recursive: true, force: true });
}

/** Decoded parts of a path; empty for one that is not clean. */
function partsOf(urlPath: string): string[] {
  try {
    const parts = urlPath.split('/').slice(1).map(decodeURIComponent);
    return parts.some((part) => part === '' || part.startsWith('.') || /[/\\\0:]/.test(part)) ? [] : parts;
  } catch {
    return [];
  }
}

async function resolveAsset(runsFolder: string, parts: readonly string[]): Promise<MediaFile | null> {
  const [run = '', key = '', name = '', ...more] = parts;
  const mimeType = mimeTypeOfAsset(name);
  if (more.length > 0 || !runName.test(run) || run.includes('..') || !episodeKeyName.test(key)) return null;
  if (mimeType === undefined) return null;
  const episode = path.join(runsFolder, run, 'episodes', key);
  const attempts = (await readdir(episode).catch(() => [])).filter((entry) => attemptFolderName.test(entry));
  const folders = [episode, ...attempts.map((attempt) => path.join(episode, attempt))];
  for (const folder of folders) {
    const found = await regularFile(path.join(folder, recordingFiles.assets, name), runsFolder);
    if (found) return { ...found, mimeType, immutable: true, downloadName: null };
  }
  return null;
}

async function resolveExport(exportsFolder: string, parts: readonly string[]): Promise<MediaFile | null> {
  const [name = '', ...more] = parts;
  if (more.length > 0 || !exportName.test(name)) return null;
  const extension = path.extname(name).slice(1);
  const type = Object.values(exportTypes).find((known) => known.extension === extension);
  const found = type && (await regularFile(path.join(exportsFolder, name), exportsFolder));
  return found ? { ...found, mimeType: type.mimeType, immutable: false, downloadName: name } : null;
}

/** The folder may be reached through links as long as it stays below the root; the file itself is none. */
async function regularFile(file: string, root: string): Promise<{ file: string; bytes: number } | null> {
  try {
    const [folder, base, facts] = await Promise.all([
      realpath(path.dirname(file)),
      realpath(root),
      lstat(file),
    ]);
    const isBelow = folder === base || folder.startsWith(base + path.sep);
    return isBelow && facts.isFile() ? { file, bytes: facts.size } : null;
  } catch {
    return null;
  }
}

function limited(largestBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const isTooLarge = bytes > largestBytes;
      const error = new StudioError(
        'invalid_input',
        `The file is larger than ${Math.round(largestBytes / 2 ** 20)} MB.`,
      );
      if (isTooLarge) done(error);
      else done(null, chunk);
    },
  });
}
