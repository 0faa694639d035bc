// Where the command line writes: stdout for results, stderr for what is only for people. With --json stdout carries
// one object per line and nothing else.
import { clipToWidth, oneLine, padToWidth, textWidth } from './text-width.ts';

export interface Output {
  readonly json: boolean;
  /** Redraws in place; otherwise one line per event. */
  readonly terminal: boolean;
  readonly columns: number;
  /** How this program is called for the same workspace, for hints. */
  readonly program: string;
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
  readonly stdout: NodeJS.WritableStream & {
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
  };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export function createOutput(
  json: boolean,
  { stdout, stderr }: OutputStreams,
  program = 'agentcanvas',
): Output {
  const terminal = !json && stdout.isTTY === true;
  let drawn: readonly string[] = [];
  // A terminal that does not know its width says 0.
  const columns = (): number => stdout.columns || 100;
  const erase = (): void => {
    // A terminal that became narrower has wrapped what was drawn.
    const height = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(line) / columns())), 0);
    if (height > 0) stdout.write(`\u001b[${height}A\u001b[0J`);
    drawn = [];
  };
  return {
    json,
    terminal,
    columns: columns(),
    program,
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
      // More lines than the terminal is high would scroll away and could not be erased.
      const shown = lines.slice(0, Math.max(1, (stdout.rows ?? 24) - 1));
      drawn = shown.map((line) => clipToWidth(line, columns() - 1));
      stdout.write(drawn.map((line) => `${line}\n`).join(''));
    },
  };
}

/** Columns aligned by their widest cell; numbers to the right. The first row is the header. */
export function table(cells: readonly (readonly string[])[]): string[] {
  const rows = cells.map((row) => row.map(oneLine));
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => textWidth(row[column] ?? ''))),
  );
  const isNumber = widths.map((_width, column) =>
    rows.slice(1).every((row) => /^[-–+\d.,%s\s/∞—]*$/.test(row[column] ?? '')),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => padToWidth(cell, widths[column] ?? 0, isNumber[column] ? 'start' : 'end'))
      .join('  ')
      .trimEnd(),
  );
}
