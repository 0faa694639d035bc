// Where a model named in a graph is: `library:<file>` among the shipped models, an absolute path, or one relative to the
// workspace. The identity changes when the file does.
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { StudioError } from '../../base/errors.ts';

export interface ModelFolders {
  /** Shipped models. */
  readonly library: string;
  readonly workspace: string;
}

export interface ModelFile {
  readonly path: string;
  /** Path, size and time: the same file until somebody writes it. */
  readonly identity: string;
}

const libraryPrefix = 'library:';

export function modelPath(reference: string, folders: ModelFolders): string {
  if (!reference.startsWith(libraryPrefix)) return path.resolve(folders.workspace, reference);
  const file = path.resolve(folders.library, reference.slice(libraryPrefix.length));
  if (file.startsWith(folders.library + path.sep)) return file;
  throw new StudioError(
    'model_failed',
    `${reference} leaves the folder of shipped models; name a file in it`,
  );
}

/** Rejects with `model_failed` when there is no such file. */
export async function findModel(reference: string, folders: ModelFolders): Promise<ModelFile> {
  const wanted = modelPath(reference, folders);
  try {
    const file = await realpath(wanted);
    const info = await stat(file);
    if (!info.isFile())
      throw new StudioError('model_failed', `${wanted} is no file; name the .onnx file itself`);
    return { path: file, identity: `${file}\n${info.size}\n${info.mtimeMs}` };
  } catch (error) {
    if (error instanceof StudioError) throw error;
    throw new StudioError(
      'model_failed',
      `there is no model at ${wanted} (named "${reference}"); give an absolute path, one relative to the workspace, or library:<file>`,
      { cause: error },
    );
  }
}
