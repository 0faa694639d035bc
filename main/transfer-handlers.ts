// Requests that bring runs in and take them out as files. Files are written and read in the bulk thread.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from './base/clock.ts';
import { StudioError } from './base/errors.ts';
import type { ParsedInput, RequestOutput } from './contract/api.ts';
import type { transferRequests } from './contract/replay.ts';
import type { Handlers } from './dispatch.ts';
import type { HandlerServices } from './request-handlers.ts';
import { folderOfRun } from './run-exists.ts';
import { importEpisodes } from './run-import.ts';
import { exportTypes } from './store/run-document.ts';
import { createRunId } from './store/run-id.ts';

export type TransferRequests = keyof typeof transferRequests;

export function createTransferHandlers(
  services: HandlerServices,
  writable: () => void,
): Pick<Handlers, TransferRequests> {
  return {
    'runs.exportFile': (input) => exportFile(services, input),
    'runs.import': async (input) => {
      writable();
      const imported = await importRun(services, input);
      if (input.upload !== undefined) await services.media.dropUpload(input.upload);
      await tellImported(services, imported.runId);
      return imported;
    },
    'runs.dropUpload': async ({ upload }) => {
      await services.media.dropUpload(upload);
      return {};
    },
  };
}

async function exportFile(
  { store, bulk, media, recordings, readOnly }: HandlerServices,
  { runId, format, filter }: ParsedInput<'runs.exportFile'>,
): Promise<RequestOutput<'runs.exportFile'>> {
  const folder = await folderOfRun(store, runId);
  const { mimeType, extension } = exportTypes[format];
  const isFiltered = filter.trim() !== '';
  if (format === 'zip' && isFiltered)
    throw new StudioError('invalid_input', 'A bundle is the whole run: it takes no filter.');
  const fileName = `${runId}${isFiltered ? '_filtered' : ''}.${extension}`;
  await mkdir(media.exportsFolder, { recursive: true });
  const target = path.join(media.exportsFolder, fileName);
  if (format === 'zip' && !readOnly) await recordings.runInOrder(folder);
  const bytes =
    format === 'zip'
      ? await bulk.run('exportBundle', { folder, target })
      : await bulk.run('exportFile', {
          folder,
          format,
          target,
          ordinals: isFiltered ? await store.matchingOrdinals(runId, { expression: filter }) : null,
          filter: isFiltered ? filter.trim() : null,
        });
  return { fileName, mimeType, bytes, path: target, address: `/exports/${fileName}` };
}

async function importRun(
  services: HandlerServices,
  input: ParsedInput<'runs.import'>,
): Promise<RequestOutput<'runs.import'>> {
  const { store, bulk, graphs, access } = services;
  const source = sourceOf(services, input);
  const found = await bulk.run('readImport', { path: source });
  if (found.kind === 'bundle') return importBundle(services, source);
  const { name, environment, split, stepBudget } = input;
  const record = await importEpisodes({
    store,
    clock: systemClock,
    workspaceFolder: access.workspace.folder,
    imported: found,
    graphText: readableGraph(graphs, found.graphText),
    source: shortName(source, input.upload),
    name,
    environment,
    split,
    stepBudget,
  });
  return {
    runId: record.runId,
    kind: found.kind,
    episodes: record.plan.length,
    warnings: [...found.warnings],
  };
}

/** Keeps the bundle's id where it is free. */
async function importBundle(
  { store, bulk, access }: HandlerServices,
  source: string,
): Promise<RequestOutput<'runs.import'>> {
  const { runsFolder } = access.workspace;
  const temporary = path.join(runsFolder, `.new-import-${createRunId(systemClock)}`);
  await mkdir(runsFolder, { recursive: true });
  const { runId, episodes } = await bulk.run('unpackBundle', { path: source, folder: temporary, runsFolder });
  await store.refreshIndex();
  return { runId, kind: 'bundle', episodes, warnings: [] };
}

function sourceOf({ media }: HandlerServices, { path: file, upload }: ParsedInput<'runs.import'>): string {
  if ((file === undefined) === (upload === undefined))
    throw new StudioError('invalid_input', 'Give either path or upload.');
  if (upload !== undefined) return media.uploadPath(upload);
  return path.resolve(process.env['INIT_CWD'] ?? process.cwd(), file ?? '');
}

/** Folder and file: many files of results are called the same. */
function shortName(source: string, upload: string | undefined): string {
  if (upload !== undefined) return upload.slice(17);
  return path
    .join(path.basename(path.dirname(source)), path.basename(source))
    .split(path.sep)
    .join('/');
}

/** A graph that this app cannot read is not kept with the run: it could never be shown. */
export function readableGraph(graphs: HandlerServices['graphs'], text: string | null): string | null {
  if (text === null) return null;
  try {
    graphs.parse(text);
    return text;
  } catch {
    return null;
  }
}

export async function tellImported(
  { store, feed }: Pick<HandlerServices, 'store' | 'feed'>,
  runId: string,
): Promise<void> {
  const { items } = await store.list({ search: runId, limit: 10 });
  const item = items.find((candidate) => candidate.runId === runId);
  if (item) feed.publish('run.changed', { runId, item });
}
