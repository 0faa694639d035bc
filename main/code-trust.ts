// May this code run? By folder, or by the hash of what would run: a folder of nodesets as a whole (they import each
// other), a graph by its commands. What is offered for trust is what was looked at, so an edit meanwhile asks again.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { StudioError } from './base/errors.ts';
import { stableHash } from './base/stable-hash.ts';
import type { GraphDefinition } from './contract/graph.ts';
import { parseGraph } from './graph/definition.ts';
import { executableFields } from './graph/graph-tools.ts';
import type { OfferedContent, TrustAnswer } from './nodeset/trust.ts';
import { contentOfFolder } from './store/folder-content.ts';
import { nodeFileSystem } from './store/node-file-system.ts';
import type { TrustedContent, TrustList } from './store/trust-list.ts';
import { contains, workspaceFileName, type Workspace } from './store/workspace.ts';

export interface TrustPlaces {
  readonly trust: TrustList;
  /** The workspace's and those of Settings. */
  readonly nodesetFolders: readonly string[];
}

/** Folders and contents to trust for good before anything runs; relative ones start where the user is. */
export interface WantedTrust {
  readonly trust?: readonly string[];
  readonly trustContent?: readonly string[];
}

/** What is offered is looked at once for all nodesets of a folder that are listed together. */
const offerLastsMs = 2000;

export function trustPlacesOf(
  { trust, workspace }: { readonly trust: TrustList; readonly workspace: Workspace },
  { nodesetFolders }: { readonly nodesetFolders: readonly string[] },
): TrustPlaces {
  return { trust, nodesetFolders: [workspace.nodesetsFolder, ...nodesetFolders] };
}

/** The gate before nodesets. A trusted content is hashed anew at each question. */
export function createNodesetGate(places: () => TrustPlaces): (file: string) => Promise<TrustAnswer> {
  const offers = new Map<string, { readonly atMs: number; readonly offer: Promise<OfferedContent> }>();
  const offerOf = (folder: string): Promise<OfferedContent> => {
    const known = offers.get(folder);
    if (known && performance.now() - known.atMs < offerLastsMs) return known.offer;
    const offer = lookAt(folder);
    offers.set(folder, { atMs: performance.now(), offer });
    return offer;
  };
  return async (file) => {
    const { trust, nodesetFolders } = places();
    if (await trust.trusts(file)) return true;
    const folder = await folderAround(file, nodesetFolders);
    const real = await nodeFileSystem.realPath(folder);
    const isKnown = (await trust.contents()).some((content) => content.path === real);
    if (!isKnown) return await offerOf(folder);
    const current = await lookAt(folder);
    if (current.hash === undefined) return current;
    return (await trust.trustsContent({ path: folder, hash: current.hash })) ? 'content' : current;
  };
}

async function lookAt(folder: string): Promise<OfferedContent> {
  const content = await contentOfFolder(nodeFileSystem, folder);
  return 'problem' in content
    ? { path: folder, problem: content.problem }
    : { path: folder, hash: content.hash };
}

/** Nodesets of one folder import each other, so the whole folder is the unit. */
async function folderAround(file: string, nodesetFolders: readonly string[]): Promise<string> {
  const around = nodesetFolders.filter((folder) => contains(folder, file));
  const outermost = around.sort((a, b) => a.length - b.length)[0];
  if (outermost !== undefined) return outermost;
  const stat = await nodeFileSystem.stat(file);
  return stat?.isFolder ? file : path.dirname(file);
}

/** Hooks are commands: a graph that has some runs only from a trusted folder, or with exactly the trusted commands. */
export async function refuseUntrustedHooks(
  definition: GraphDefinition,
  file: string,
  trust: Pick<TrustList, 'trusts' | 'trustsContent'>,
): Promise<void> {
  const commands = executableFields(definition).map(
    ({ where, event, command }) => `${where} (${event}): ${command}`,
  );
  if (commands.length === 0 || (await trust.trusts(file))) return;
  const content = { path: file, hash: hashOfCommands(definition) };
  if (await trust.trustsContent(content)) return;
  const message = `The graph runs commands and lies in a folder that is not trusted: ${file}. It would run: ${commands.slice(0, 3).join('; ')}. If you know who wrote it, trust the folder (--trust PATH) or just these commands (--trust-content FILE).`;
  throw new StudioError('untrusted', message, {
    details: { path: file, folder: path.dirname(file), wouldRun: commands, content },
  });
}

function hashOfCommands(definition: GraphDefinition): string {
  return stableHash({ commands: executableFields(definition) });
}

/** What would be trusted at a path as it is now. Throws `invalid_input` where no hash can stand for it. */
export async function contentAt(target: string, nodesetFolders: readonly string[]): Promise<TrustedContent> {
  const stat = await nodeFileSystem.stat(target);
  if (!stat) throw new StudioError('invalid_input', `There is nothing at ${target}.`);
  const isGraph = /\.(json|acgraph)$/.test(target) && !stat.isFolder;
  if (isGraph) return { path: target, hash: hashOfCommands(parseGraph(await readFile(target, 'utf8'))) };
  if (stat.isFolder && (await nodeFileSystem.stat(path.join(target, workspaceFileName))))
    throw new StudioError(
      'invalid_input',
      `${target} is a workspace, which every run changes. Trust the content of its nodesets folder or of a graph file.`,
    );
  const { hash, problem, path: folder } = await lookAt(await folderAround(target, nodesetFolders));
  if (hash !== undefined) return { path: folder, hash };
  throw new StudioError(
    'invalid_input',
    `${folder} cannot be trusted by its content: ${problem}. Trust the folder if you know who wrote it.`,
  );
}

export async function trustAll(places: TrustPlaces, wanted: WantedTrust): Promise<void> {
  const absolute = (named: string): string => path.resolve(process.env['INIT_CWD'] ?? process.cwd(), named);
  for (const folder of wanted.trust ?? []) await places.trust.add(absolute(folder));
  for (const target of wanted.trustContent ?? [])
    await places.trust.addContent(await contentAt(absolute(target), places.nodesetFolders));
}
