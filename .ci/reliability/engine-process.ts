// One engine in a process of its own, and what it tells.
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BenchWorkspace } from './bench-workspace.ts';

export type ToldByChild =
  | { readonly kind: 'rows'; readonly runId: string; readonly ordinals: readonly number[] }
  | { readonly kind: 'resuming' | 'started' | 'finished'; readonly runId: string }
  | { readonly kind: 'resumed'; readonly runId: string; readonly status: string };

export interface EngineProcess {
  readonly child: ChildProcess;
  readonly told: readonly ToldByChild[];
  readonly exited: Promise<unknown>;
  readonly stderr: () => string;
  onTold(listener: (message: ToldByChild) => void): void;
}

const program = path.join(import.meta.dirname, 'engine-child.ts');
const bundle = path.join(import.meta.dirname, '../../dist/engine/studio.mjs');
const sources = path.join(import.meta.dirname, '../../main/studio.ts');

/** The bundle as it is shipped, where the command built it; tests run the sources. */
export function studioModule(): string {
  const isBuilt = process.env['AC_RELIABILITY_BUNDLE'] === '1' && existsSync(bundle);
  return pathToFileURL(isBuilt ? bundle : sources).href;
}

export function startEngine(
  { folder, environment }: Pick<BenchWorkspace, 'folder' | 'environment'>,
  config: object | null,
  more: Readonly<Record<string, string>> = {},
): EngineProcess {
  const child = fork(program, [folder, config ? JSON.stringify(config) : '', studioModule()], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, ...environment, ...more },
  });
  const told: ToldByChild[] = [];
  const listeners: ((message: ToldByChild) => void)[] = [];
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-4000)));
  child.on('message', (message) => {
    told.push(message as ToldByChild);
    for (const listener of listeners) listener(message as ToldByChild);
  });
  return {
    child,
    told,
    exited: once(child, 'exit'),
    stderr: () => stderr,
    onTold: (listener) => void listeners.push(listener),
  };
}
