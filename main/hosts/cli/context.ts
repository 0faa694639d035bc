// Shared by every command: the global options, one client per command, and how an error becomes text and exit code.
import { StudioError } from '../../base/errors.ts';
import { describeError } from '../../dispatch.ts';
import { openClient, RequestFailed, type Client, type ClientOptions } from './client.ts';
import { exitCodeOfError, exitCodes, type ExitCode } from './exit-codes.ts';
import { withAdvice } from './format.ts';
import { createOutput, type Output, type OutputStreams } from './output.ts';

export interface GlobalOptions {
  readonly workspace?: string;
  readonly json?: boolean;
  readonly trust?: readonly string[];
  readonly trustContent?: readonly string[];
}

export interface CommandContext {
  readonly streams: OutputStreams;
  /** Set by the command that ran. */
  exitCode: ExitCode;
}

export type CommandBody = (client: Client, output: Output) => Promise<ExitCode | void>;

/** Opens a client, runs the body, closes the client, and turns whatever was thrown into one line and an exit code. */
export async function runCommand(
  context: CommandContext,
  options: GlobalOptions & Pick<ClientOptions, 'readOnly'>,
  body: CommandBody,
): Promise<void> {
  const output = createOutput(options.json === true, context.streams, programFor(options));
  try {
    await using client = await openClient({
      workspace: options.workspace,
      trust: options.trust ?? [],
      trustContent: options.trustContent ?? [],
      readOnly: options.readOnly === true,
    });
    context.exitCode = (await body(client, output)) ?? exitCodes.ok;
  } catch (thrown) {
    context.exitCode = reportFailure(output, thrown);
  }
}

export function reportFailure(output: Output, thrown: unknown): ExitCode {
  const info = thrown instanceof RequestFailed ? thrown.info : describeError(toUsageError(thrown));
  output.emit({
    event: 'error',
    code: info.code,
    message: info.message,
    scope: info.scope,
    details: info.details,
  });
  output.note(info.message);
  const diagnostics = Array.isArray(info.details['diagnostics']) ? info.details['diagnostics'] : [];
  for (const line of diagnostics.slice(0, 20)) output.note(`  ${diagnosticText(line)}`);
  return exitCodeOfError(info);
}

export function diagnosticText(value: unknown): string {
  const { severity, nodePath, message, fix } = value as {
    severity?: string;
    nodePath?: string;
    message?: string;
    fix?: string;
  };
  const where = nodePath ? `  ${nodePath}` : '';
  return `${severity ?? 'error'}${where}: ${withAdvice(message ?? '', fix ?? '')}`;
}

/** With the workspace it was given, so that what a hint says can be pasted. */
export function programFor({ workspace }: Pick<GlobalOptions, 'workspace'>): string {
  if (workspace === undefined) return 'agentcanvas';
  return `agentcanvas --workspace ${shellWord(workspace)}`;
}

/** Nothing of it is expanded by the shell that reads it. */
function shellWord(text: string): string {
  if (/^[\w./:@-]+$/.test(text)) return text;
  return process.platform === 'win32' ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A plain Error comes from reading flags: usage. */
function toUsageError(thrown: unknown): StudioError {
  if (thrown instanceof StudioError) return thrown;
  if (thrown instanceof Error && thrown.constructor === Error)
    return new StudioError('invalid_input', thrown.message);
  return new StudioError(
    'internal',
    thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
  );
}
