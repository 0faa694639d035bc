// A nodeset at one state of its sources. Versions never change: whoever started with one keeps it.
import type { NodesetManifest } from '../contract/nodeset.ts';

export interface NodesetSource {
  readonly name: string;
  /** Absolute: the nodeset's folder, or its single file. */
  readonly path: string;
  /** Absolute: the file that is compiled or imported. */
  readonly entry: string;
  readonly language: 'typescript' | 'python';
  readonly origin: 'library' | 'workspace';
  /** Python: the class to serve, and what it names as its interpreter. */
  readonly className?: string | undefined;
  readonly interpreter?: string | undefined;
  /** Variables it asks for (`server_env`). */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export interface NodesetVersion {
  readonly source: NodesetSource;
  /** Hash of everything that went into it. */
  readonly hash: string;
  /** TypeScript only. */
  readonly bundlePath: string | undefined;
  readonly manifest: NodesetManifest;
}

/** Shared TypeScript nodesets live in the engine; everything else is a process. */
export function livesInEngine({ manifest, source }: Pick<NodesetVersion, 'manifest' | 'source'>): boolean {
  return source.language === 'typescript' && manifest.parallelism === 'shared';
}
