import { describe, expect, it } from 'vitest';
import { createOutput, table } from './output.ts';
import { clipToWidth, oneLine, padToWidth, textWidth } from './text-width.ts';

/** A terminal that remembers what was written to it. */
function terminal(columns: number, rows: number) {
  const written: string[] = [];
  const stdout = { isTTY: true, columns, rows, write: (text: string) => written.push(text) > 0 };
  const streams = { stdout, stderr: stdout } as unknown as Parameters<typeof createOutput>[1];
  return { output: createOutput(false, streams), written, stdout };
}

describe('text on a terminal', () => {
  it('takes two columns per character of East Asia and per emoji, none per accent', () => {
    expect(['abc', '厨房', 'ｱ', '한국', '🙂', 'e\u0301', '\u001b[1mbold\u001b[0m'].map(textWidth)).toEqual([
      3, 4, 1, 4, 2, 1, 4,
    ]);
  });

  it('is cut between characters so that it fits with its ellipsis', () => {
    expect(clipToWidth('go to the kitchen', 8)).toBe('go to t…');
    expect(clipToWidth('去厨房拿杯子', 8)).toBe('去厨房…');
    expect(textWidth(clipToWidth('去厨房拿杯子', 8))).toBeLessThanOrEqual(8);
    expect(clipToWidth('去厨房', 6)).toBe('去厨房');
  });

  it('is padded and set in columns by what it takes', () => {
    expect(padToWidth('厨', 4, 'end')).toBe('厨  ');
    const lines = table([
      ['run', 'n'],
      ['厨房', '1'],
      ['kitchen', '20'],
    ]);
    expect(new Set(lines.map(textWidth)).size).toBe(1);
  });

  it('of an error becomes one line that cannot steer the terminal', () => {
    expect(oneLine('did not compile:\n  nodeset.ts:3:5\n\n  "x" is\u0007 not\u001b[2J defined\n')).toBe(
      'did not compile: | nodeset.ts:3:5 | "x" is  not defined',
    );
    expect(table([['error'], ['a\nb']])).toEqual(['error', 'a | b']);
  });
});

describe('lines that are drawn in place', () => {
  it('are never more than the terminal is high', () => {
    const { output, written } = terminal(80, 5);
    output.live(Array.from({ length: 12 }, (_line, at) => `line ${at}`));
    expect(written.join('').split('\n').filter(Boolean)).toEqual(['line 0', 'line 1', 'line 2', 'line 3']);
  });

  it('are erased whole, also when the terminal became narrower and wrapped them', () => {
    const { output, written, stdout } = terminal(80, 24);
    output.live(['x'.repeat(60), 'short']);
    stdout.columns = 40;
    written.length = 0;
    output.note('a note');
    expect(written[0]).toContain('\u001b[3A');
  });
});
