// What a run ran on: facts of this machine and of the workspace's git checkout. Everything here may be absent; a
// helper program that does not answer in time is left out, never waited for.
import { execFile } from 'node:child_process';
import { arch, cpus, hostname, release, totalmem, type as osType } from 'node:os';
import type { Provenance } from '../contract/run.ts';

export interface ProvenanceInput {
  readonly appVersion: string;
  readonly graphHash: string;
  readonly workspaceFolder: string;
  readonly nodesets?: Provenance['nodesets'];
  readonly interpreters?: Provenance['interpreters'];
  readonly models?: Provenance['models'];
  readonly timeoutMs?: number;
}

/** Also `gitDirty`: true when the checkout has changes that are not committed. */
export async function collectProvenance(input: ProvenanceInput): Promise<Provenance> {
  const { workspaceFolder, timeoutMs = 2000 } = input;
  const ask = (command: string, ...args: string[]): Promise<string | null> =>
    firstOutput({ command, args, folder: workspaceFolder, timeoutMs });
  const [gitCommit, gitChanges, gpu] = await Promise.all([
    ask('git', 'rev-parse', 'HEAD'),
    ask('git', 'status', '--porcelain', '--untracked-files=no'),
    ask('nvidia-smi', '--query-gpu=name,memory.total,driver_version', '--format=csv,noheader'),
  ]);
  const processors = cpus();
  return {
    appVersion: input.appVersion,
    gitCommit,
    gitDirty: gitCommit === null ? null : gitChanges !== null && gitChanges !== '',
    graphHash: input.graphHash,
    nodesets: input.nodesets ?? [],
    interpreters: input.interpreters ?? [],
    models: input.models ?? [],
    host: hostname(),
    os: `${osType()} ${release()} ${arch()}`,
    nodeVersion: process.version,
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryBytes: totalmem(),
    gpu: gpu === '' ? null : gpu,
  };
}

interface Question {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly timeoutMs: number;
}

/** Trimmed output, or null when the program is absent, fails or is late. */
function firstOutput({ command, args, folder, timeoutMs }: Question): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { cwd: folder, timeout: timeoutMs, killSignal: 'SIGKILL', windowsHide: true } as const;
    execFile(command, args, options, (error, stdout) => resolve(error ? null : stdout.trim()));
  });
}
