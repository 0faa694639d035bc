// Finds or makes the workspace, and knows where everything in it and beside it is.
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { messageOf, StudioError } from '../base/errors.ts';
import { fromFileCase, toFileCase } from '../contract/casing.ts';
import { settings, type Settings } from '../contract/settings.ts';
import { atomicWrite } from './atomic-write.ts';
import { createLastGoodFile, type LastGoodFile } from './last-good-file.ts';
import type { FileSystemPort } from './ports.ts';
import { toStorageError } from './storage-error.ts';

export const workspaceFileName = 'agentcanvas.json';

/** agentcanvas.json; unknown members are kept. */
export const workspaceFile = z.looseObject({
  formatVersion: z.literal(1).default(1),
  name: z.string().default(''),
});
export type WorkspaceFile = z.infer<typeof workspaceFile>;

export interface Workspace {
  readonly folder: string;
  readonly file: WorkspaceFile;
  readonly isDefault: boolean;
  readonly graphsFolder: string;
  readonly nodesetsFolder: string;
  readonly runsFolder: string;
  readonly trashFolder: string;
  readonly cacheFolder: string;
  readonly indexPath: string;
  readonly settingsPath: string;
}

export interface WorkspaceSearch {
  readonly fileSystem: FileSystemPort;
  /** `--workspace`: made when it does not exist. */
  readonly explicit?: string | undefined;
  /** INIT_CWD under npm, else the current folder. */
  readonly startFolder: string;
  /** `~` when absent. */
  readonly homeFolder?: string;
}

/** `--workspace`, else the nearest folder upwards with the file, else `~/AgentCanvas`, made on first use. */
export async function findOrMakeWorkspace(search: WorkspaceSearch): Promise<Workspace> {
  const { fileSystem, explicit, startFolder, homeFolder = homedir() } = search;
  const defaultFolder = join(homeFolder, 'AgentCanvas');
  const nearest =
    explicit === undefined ? await nearestWorkspace(fileSystem, resolve(startFolder)) : undefined;
  const folder = explicit === undefined ? (nearest ?? defaultFolder) : resolve(startFolder, explicit);
  const file = await readOrMakeFile(fileSystem, folder);
  const cacheFolder = join(folder, '.cache');
  return {
    folder,
    file,
    isDefault: folder === defaultFolder,
    graphsFolder: join(folder, 'graphs'),
    nodesetsFolder: join(folder, 'nodesets'),
    runsFolder: join(folder, 'outputs', 'eval_runs'),
    trashFolder: join(folder, 'outputs', '.trash'),
    cacheFolder,
    indexPath: join(cacheFolder, 'index.sqlite'),
    settingsPath: join(folder, 'settings.json'),
  };
}

async function nearestWorkspace(fileSystem: FileSystemPort, start: string): Promise<string | undefined> {
  for (let folder = start; ; folder = dirname(folder)) {
    if (await fileSystem.stat(join(folder, workspaceFileName))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

async function readOrMakeFile(fileSystem: FileSystemPort, folder: string): Promise<WorkspaceFile> {
  const path = join(folder, workspaceFileName);
  const found = await fileSystem.stat(folder);
  if (found && !found.isFolder)
    throw new StudioError('invalid_input', `${folder} is a file, not a workspace folder`);
  if (await fileSystem.stat(path)) return readFile(fileSystem, path);
  const file = workspaceFile.parse({ name: basename(folder) });
  try {
    for (const name of ['graphs', 'nodesets', 'outputs']) await fileSystem.makeFolder(join(folder, name));
  } catch (error) {
    throw toStorageError(error, `make the workspace ${folder}`);
  }
  await atomicWrite(fileSystem, path, `${JSON.stringify(toFileCase(workspaceFile, file), null, 2)}\n`);
  return file;
}

async function readFile(fileSystem: FileSystemPort, path: string): Promise<WorkspaceFile> {
  try {
    const text = Buffer.from(await fileSystem.readFile(path)).toString('utf8');
    return workspaceFile.parse(fromFileCase(workspaceFile, JSON.parse(text)));
  } catch (error) {
    throw new StudioError(
      'corrupt',
      `${path} cannot be read (${messageOf(error).slice(0, 120)}). Repair or remove it; runs and graphs stay.`,
      { cause: error },
    );
  }
}

/** The user's own folder: AGENTCANVAS_HOME, else the platform's place for configuration. */
export function userFolder(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  homeFolder = homedir(),
): string {
  const { AGENTCANVAS_HOME: own, APPDATA: roaming, XDG_CONFIG_HOME: xdg } = environment;
  if (own) return own;
  if (platform === 'win32') return join(roaming ?? join(homeFolder, 'AppData', 'Roaming'), 'AgentCanvas');
  if (platform === 'darwin') return join(homeFolder, 'Library', 'Application Support', 'AgentCanvas');
  return join(xdg && isAbsolute(xdg) ? xdg : join(homeFolder, '.config'), 'agentcanvas');
}

export interface UserFileOptions {
  readonly fileSystem: FileSystemPort;
  readonly now: () => number;
}

export function openSettings(options: UserFileOptions, path: string): LastGoodFile<Settings> {
  return createLastGoodFile({
    fileSystem: options.fileSystem,
    path,
    parse: (json) => settings.parse(fromFileCase(settings, json)),
    encode: (value) => toFileCase(settings, value),
    defaults: () => settings.parse({}),
    stamp: () => String(options.now()),
  });
}

/** True when `path` is `folder` or lies in it. */
export function contains(folder: string, path: string): boolean {
  const between = relative(resolve(folder), resolve(path));
  return between === '' || (!isAbsolute(between) && between !== '..' && !between.startsWith(`..${sep}`));
}
