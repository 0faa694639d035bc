// How the end of a process is told: exit code or signal, and what it said last.
import { StudioError } from '../base/errors.ts';
import type { ErrorCode } from '../base/error-codes.ts';
import type { ExitInfo } from './ports.ts';

const tailLines = 20;

export interface DeathFacts {
  readonly label: string;
  readonly exit: ExitInfo;
  readonly stderrTail: readonly string[];
}

/** "minivln#0 was killed by SIGSEGV" or "… ended with exit code 3: <last line>"; facts in `details`. */
export function deathError(
  facts: DeathFacts,
  options: { readonly code?: ErrorCode; readonly cause?: unknown } = {},
): StudioError {
  const { label, exit } = facts;
  const stderrTail = facts.stderrTail.slice(-tailLines);
  const lastLine = stderrTail.findLast((line) => line.trim() !== '');
  const message = `${label} ${describeExit(exit)}${lastLine ? `: ${lastLine.trim().slice(0, 300)}` : ''}`;
  return new StudioError(options.code ?? 'process_died', message, {
    cause: options.cause,
    details: { exitCode: exit.exitCode, signal: exit.signal, stderrTail },
  });
}

export function describeExit({ exitCode, signal }: ExitInfo): string {
  return signal ? `was killed by ${signal}` : `ended with exit code ${exitCode ?? 'unknown'}`;
}
