// Where the command line writes: stdout for results, stderr for what is only for people. With --json stdout carries
// one object per line and nothing else.
import { stripVTControlCharacters } from 'node:util';

export interface Output {
  readonly json: boolean;
  /** Redraws in place; otherwise one line per event. */
  readonly terminal: boolean;
  readonly columns: number;
  /** A result for people; dropped with --json. */
  print(line: string): void;
  /** A result for programs; dropped without --json. */
  emit(value: unknown): void;
  /** For people, beside the result: progress, hints, errors. */
  note(line: string): void;
  /** Lines that replace the previous ones; only on a terminal. */
  live(lines: readonly string[]): void;
}

export interface OutputStreams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export function createOutput(json: boolean, { stdout, stderr }: OutputStreams): Output {
  const terminal = !json && stdout.isTTY === true;
  let drawn = 0;
  const erase = (): void => {
    if (drawn > 0) stdout.write(`\u001b[${drawn}A\u001b[0J`);
    drawn = 0;
  };
  return {
    json,
    terminal,
    columns: stdout.columns ?? 100,
    print(line) {
      erase();
      if (!json) stdout.write(`${line}\n`);
    },
    emit(value) {
      if (json) stdout.write(`${JSON.stringify(value)}\n`);
    },
    note(line) {
      erase();
      stderr.write(`${line}\n`);
    },
    live(lines) {
      if (!terminal) return;
      erase();
      const width = stdout.columns ?? 100;
      for (const line of lines) stdout.write(`${clip(line, width - 1)}\n`);
      drawn = lines.length;
    },
  };
}

function clip(line: string, width: number): string {
  return stripVTControlCharacters(line).length <= width
    ? line
    : `${stripVTControlCharacters(line).slice(0, width - 1)}…`;
}

/** Columns aligned by their widest cell; numbers to the right. The first row is the header. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const isNumber = widths.map((_width, column) =>
    rows.slice(1).every((row) => /^[-–+\d.,%s\s/∞—]*$/.test(row[column] ?? '')),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
