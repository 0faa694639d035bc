// Writes the measured table into docs/reliability.md, between its two marks.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RowResult, Scale } from './row.ts';
import { rowGoals } from './row-names.ts';

export interface StoredRow extends RowResult {
  readonly seed: number;
  readonly scale: Scale;
  readonly seconds: number;
  readonly date: string;
}

const page = path.resolve(import.meta.dirname, '../../docs/reliability.md');
const [from, to] = ['<!-- measured -->', '<!-- end of measured -->'];

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly system: string;
}

export function updateTable(machine: Machine, rows: readonly StoredRow[]): void {
  const text = readFileSync(page, 'utf8');
  const [start, end] = [text.indexOf(from), text.indexOf(to)];
  if (start < 0 || end < start) throw new Error(`${page} has lost its marks ${from} and ${to}`);
  const lines = [
    `Measured on ${machine.cpu}, ${machine.cores} cores, ${machine.system}, Node ${machine.node}.`,
    '',
    '| row | must show | figures | holds | seed | seconds | date |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(lineOf),
  ];
  writeFileSync(page, `${text.slice(0, start + from.length)}\n\n${lines.join('\n')}\n\n${text.slice(end)}`);
}

function lineOf({ name, figures, ok, seed, seconds, date }: StoredRow): string {
  const goal = (rowGoals as Readonly<Record<string, string>>)[name] ?? '';
  const shown = Object.entries(figures).map(([figure, value]) => `${figure}: ${value}`);
  const cells = [name, goal, shown.join('; '), ok ? 'yes' : '**no**', seed, seconds, date.slice(0, 10)];
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}
