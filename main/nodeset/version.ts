// A nodeset at one state of its sources. Versions never change: whoever started with one keeps it.
import type { ServerNeeds } from '../contract/spawners.ts';
import type { NodesetManifest } from '../contract/nodeset.ts';
import type { ChosenInterpreter } from './interpreter-choice.ts';

export interface NodesetSource {
  readonly name: string;
  /** Absolute: the nodeset's folder, or its single file. Of an attached one, its URL. */
  readonly path: string;
  /** Absolute: the file that is compiled or imported. */
  readonly entry: string;
  readonly language: 'typescript' | 'python';
  readonly origin: 'library' | 'workspace' | 'attached';
  /** Python: the class to serve, and what it names as its interpreter. */
  readonly className?: string | undefined;
  readonly interpreter?: string | undefined;
  /** What it names is code that has to be run to be known. */
  readonly interpreterIsCode?: boolean | undefined;
  /** TOML text of its PEP 723 block. */
  readonly script?: string | undefined;
  /** Modules it imports at its top level. */
  readonly imports?: readonly string[] | undefined;
  /** Variables it asks for (`server_env`). */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Where it wants to run, and what it needs there (`server_image`, `server_gpu` …). */
  readonly needs?: ServerNeeds | undefined;
  /** Attached: environment variable that holds the bearer token; empty = none. */
  readonly tokenEnv?: string | undefined;
}

export interface NodesetVersion {
  readonly source: NodesetSource;
  /** Hash of everything that went into it. */
  readonly hash: string;
  /** TypeScript only. */
  readonly bundlePath: string | undefined;
  readonly manifest: NodesetManifest;
  /** Python only: fixed with the version, so that whoever started with one keeps it. */
  readonly interpreter?: ChosenInterpreter | undefined;
}

/** Replicated nodesets run once per worker, except where the process is not ours. */
export function runsPerWorker({ manifest, source }: Pick<NodesetVersion, 'manifest' | 'source'>): boolean {
  return manifest.parallelism === 'replicated' && source.origin !== 'attached';
}

/** Shared TypeScript nodesets live in the engine; everything else is a process. */
export function livesInEngine({ manifest, source }: Pick<NodesetVersion, 'manifest' | 'source'>): boolean {
  return source.language === 'typescript' && manifest.parallelism === 'shared';
}
