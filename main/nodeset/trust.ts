// The gate before any code of a nodeset is imported or run.
import path from 'node:path';
import { StudioError } from '../base/errors.ts';
import type { HostLauncher } from './hosts/launcher.ts';
import type { NodesetSource } from './version.ts';

/** What could be trusted as it is now: the hash of a folder's content, or why there is none. */
export interface OfferedContent {
  readonly path: string;
  readonly hash?: string;
  readonly problem?: string;
}

/** `true`: its folder is trusted. `'content'`: as it is now, and not when it was edited. Else no. */
export type TrustAnswer = boolean | 'content' | OfferedContent;

/** Whether code at this absolute path (a file or folder) may run. Decided outside, per folder or content. */
export type TrustPort = (path: string) => TrustAnswer | Promise<TrustAnswer>;

export interface TrustGate {
  readonly isTrusted: TrustPort;
  readonly launcher: HostLauncher;
}

/** Throws `untrusted`, naming what would run. */
export async function assertTrusted(
  source: NodesetSource,
  { isTrusted, launcher }: TrustGate,
): Promise<void> {
  const answer = await isTrusted(source.path);
  if (isYes(answer)) return;
  throw untrusted(source, answer, await commandLine(source, launcher));
}

/**
 * Asks again whenever a process is about to read the nodeset's files: a replica may be replaced hours after its run
 * began. What is trusted by content must not change itself, so Python leaves no bytecode beside it.
 */
export function guardedLauncher(launcher: HostLauncher, isTrusted: TrustPort): HostLauncher {
  return {
    async commandFor(request) {
      const command = await launcher.commandFor(request);
      const { source } = request.version;
      const answer = await isTrusted(source.path);
      if (!isYes(answer)) throw untrusted(source, answer, [command.command, ...command.args].join(' '));
      if (answer === true) return command;
      return { ...command, env: { ...command.env, PYTHONDONTWRITEBYTECODE: '1' } };
    },
  };
}

/** The content that an `untrusted` error made here offers. */
export function offeredBy({ code, details }: StudioError): OfferedContent | undefined {
  return code === 'untrusted' ? (details['content'] as OfferedContent | undefined) : undefined;
}

function isYes(answer: TrustAnswer): answer is true | 'content' {
  return answer === true || answer === 'content';
}

function untrusted(source: NodesetSource, answer: false | OfferedContent, wouldRun: string): StudioError {
  const offered = answer === false ? undefined : answer;
  const choices = offered?.hash
    ? 'Trust the folder (`--trust PATH`) or just what is in it now (`--trust-content PATH`)'
    : 'Trust the folder (`--trust PATH` on the command line)';
  return new StudioError(
    'untrusted',
    `nodeset "${source.name}" lies in a folder that is not trusted: ${source.path}. It would run: ${wouldRun}. ${choices} if you know who wrote it`,
    {
      details: {
        path: source.path,
        folder: path.dirname(source.path),
        wouldRun: [wouldRun],
        ...(offered && { content: { ...offered } }),
      },
    },
  );
}

async function commandLine(source: NodesetSource, launcher: HostLauncher): Promise<string> {
  if (source.language === 'typescript') return `${source.entry} (in this app and in Node child processes)`;
  try {
    const { command, args } = await launcher.commandFor({
      version: { source, bundlePath: undefined },
      instance: source.name,
    });
    return [command, ...args].join(' ');
  } catch (error) {
    const told = error instanceof StudioError ? error.details['wouldRun'] : undefined;
    if (Array.isArray(told)) return told.join('; ');
    return `${source.interpreter ?? 'python3'} with ${source.entry}`;
  }
}
