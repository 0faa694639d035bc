// Graph files by name or path: the workspace's first, then those that ship. Reading never runs anything; what ships is
// never written to.
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { StudioError } from '../base/errors.ts';
import type { GraphDefinition } from '../contract/graph.ts';
import { parseGraph } from './definition.ts';
import { requiredNodesets } from './graph-tools.ts';

export interface GraphFile {
  /** File name without its ending. */
  readonly name: string;
  /** `library:<name>` for what ships, else an absolute path. */
  readonly ref: string;
  readonly path: string;
  readonly origin: 'library' | 'workspace' | 'file';
  readonly modifiedMs: number;
}

export interface LoadedGraph {
  readonly file: GraphFile;
  readonly text: string;
  readonly definition: GraphDefinition;
}

export interface GraphEntry {
  readonly file: GraphFile;
  readonly description: string;
  readonly nodesets: readonly string[];
  readonly evalGraph: boolean;
}

export interface GraphLibraryOptions {
  readonly libraryFolder: string;
  readonly workspaceFolder: string;
  /** Replaces a file whole or not at all. */
  readonly writeFile: (file: string, text: string) => Promise<void>;
}

const endings = ['.json', '.acgraph'];
const libraryPrefix = 'library:';
const maxBytes = 8 * 2 ** 20;

export class GraphLibrary {
  readonly #options: GraphLibraryOptions;
  readonly #entries = new Map<string, GraphEntry>();

  constructor(options: GraphLibraryOptions) {
    this.#options = options;
  }

  /** Everything that can be chosen by name, workspace first. A file that is not a graph says so in its description. */
  async list(): Promise<GraphEntry[]> {
    const { workspaceFolder, libraryFolder } = this.#options;
    const files = [
      ...(await this.#filesIn(workspaceFolder, 'workspace')),
      ...(await this.#filesIn(libraryFolder, 'library')),
    ];
    return Promise.all(files.map((file) => this.#describe(file)));
  }

  /** Throws `not_found` (and says which names there are), `graph_too_large` or `invalid_input`. */
  async load(reference: string): Promise<LoadedGraph> {
    const file = await this.#find(reference);
    if ((await stat(file.path)).size > maxBytes)
      throw new StudioError('graph_too_large', `${file.path} is larger than 8 MB.`);
    const text = await readFile(file.path, 'utf8');
    return { file, text, definition: parseGraph(text) };
  }

  async describe(reference: string): Promise<GraphEntry> {
    return this.#describe(await this.#find(reference));
  }

  /** Writes an existing graph. Throws `read_only` for one that ships. */
  async save(reference: string, text: string): Promise<GraphFile> {
    const file = await this.#find(reference);
    if (file.origin === 'library')
      throw new StudioError('read_only', `${file.name} ships with the app. Save a copy into the workspace.`);
    await this.#options.writeFile(file.path, text);
    return this.#find(file.path);
  }

  /** Takes a graph into the workspace under a free name near the wanted one. */
  async add(wantedName: string, text: string): Promise<GraphFile> {
    parseGraph(text);
    const base =
      wantedName
        .replace(/[^\p{L}\p{N} ._-]/gu, '_')
        .replace(/^\.+/, '')
        .trim()
        .slice(0, 80) || 'graph';
    for (let attempt = 1; ; attempt++) {
      const file = path.join(
        this.#options.workspaceFolder,
        `${attempt === 1 ? base : `${base} ${attempt}`}.json`,
      );
      const existing = await readFile(file, 'utf8').catch(() => null);
      if (existing !== null && existing !== text) continue;
      if (existing === null) await this.#options.writeFile(file, text);
      return this.#find(file);
    }
  }

  async #find(reference: string): Promise<GraphFile> {
    const found = path.isAbsolute(reference) ? await this.#fileAt(reference) : await this.#named(reference);
    if (found) return found;
    if (path.isAbsolute(reference)) throw new StudioError('not_found', `There is no graph at ${reference}.`);
    const names = (await this.list()).map((entry) => entry.file.name);
    throw new StudioError(
      'not_found',
      `There is no graph "${reference}". There are: ${names.slice(0, 20).join(', ')}. A path works too.`,
    );
  }

  async #named(reference: string): Promise<GraphFile | null> {
    const { workspaceFolder, libraryFolder } = this.#options;
    const onlyLibrary = reference.startsWith(libraryPrefix);
    const name = onlyLibrary ? reference.slice(libraryPrefix.length) : reference;
    if (/[/\\\0]/.test(name) || name.startsWith('.')) return null;
    for (const folder of onlyLibrary ? [libraryFolder] : [workspaceFolder, libraryFolder]) {
      for (const ending of ['', ...endings]) {
        const found = await this.#fileAt(path.join(folder, name + ending));
        if (found) return found;
      }
    }
    return null;
  }

  async #fileAt(file: string): Promise<GraphFile | null> {
    const info = await stat(file).catch(() => null);
    if (!info?.isFile()) return null;
    const name = path.basename(file).replace(/\.(json|acgraph)$/i, '');
    const origin = this.#originOf(file);
    return {
      name,
      path: file,
      origin,
      ref: origin === 'library' ? libraryPrefix + name : file,
      modifiedMs: info.mtimeMs,
    };
  }

  #originOf(file: string): GraphFile['origin'] {
    const folder = path.dirname(file);
    if (folder === path.resolve(this.#options.libraryFolder)) return 'library';
    return folder === path.resolve(this.#options.workspaceFolder) ? 'workspace' : 'file';
  }

  async #filesIn(folder: string, origin: GraphFile['origin']): Promise<GraphFile[]> {
    const names = await readdir(folder).catch(() => []);
    const files = await Promise.all(
      names
        .filter((name) => endings.includes(path.extname(name)) && !name.startsWith('.'))
        .sort()
        .map((name) => this.#fileAt(path.join(folder, name))),
    );
    return files.filter((file) => file !== null).map((file) => ({ ...file, origin }));
  }

  async #describe(file: GraphFile): Promise<GraphEntry> {
    const key = `${file.path}\0${file.modifiedMs}`;
    const known = this.#entries.get(key);
    if (known) return known;
    const entry = await this.load(file.path).then(
      ({ definition }): GraphEntry => ({
        file,
        description: definition.description,
        nodesets: requiredNodesets(definition),
        evalGraph: definition.eval_graph,
      }),
      (error: unknown): GraphEntry => ({
        file,
        description: `Cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        nodesets: [],
        evalGraph: false,
      }),
    );
    this.#entries.set(key, entry);
    return entry;
  }
}
