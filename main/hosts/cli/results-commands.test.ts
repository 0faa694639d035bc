// Results on the command line: brought in, compared, taken out, and what is refused with which exit code.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildCli, makeSurroundings, runCli, type Surroundings } from '../testing/cli-process.ts';

let place: Surroundings;
let runs: string[];

beforeAll(async () => {
  buildCli();
  place = await makeSurroundings();
  runs = [];
  for (const shift of [0, 1]) {
    const byId = Object.fromEntries(
      Array.from({ length: 40 }, (_, id) => {
        const success = id % 4 < 1 + 2 * shift ? 1 : 0;
        return [String(id), { success, spl: success * 0.5, steps_taken: 10 + shift }];
      }),
    );
    await writeFile(path.join(place.folder, `results ${shift}.json`), JSON.stringify(byId));
    const imported = await runCli(
      place,
      'runs',
      'import',
      `results ${shift}.json`,
      '--env',
      'e',
      '--step-budget',
      '50',
      '--name',
      `run ${shift}`,
      '--json',
    );
    if (imported.code !== 0 || imported.stderr !== '') throw new Error(imported.stderr);
    runs.push(String(imported.events.at(-1)?.['run_id']));
  }
}, 90_000);

describe('compare', () => {
  it('says why it refuses, and compares the common episodes when asked', async () => {
    const refused = await runCli(place, 'compare', ...runs);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('the seed of an imported run is not known');
    const found = await runCli(
      place,
      'compare',
      ...runs,
      '--common',
      '--metric',
      'success',
      '--flips',
      '3',
      '--json',
    );
    expect(found.code).toBe(0);
    expect(found.events[0]).toMatchObject({
      event: 'comparison',
      refused: false,
      metrics: [{ pairs: 40, won: 20, lost: 0, same: 20, difference: 0.5, test: 'mcnemar_exact' }],
    });
    expect(found.events.slice(1)).toHaveLength(3);
    const table = await runCli(place, 'compare', ...runs, '--common', '--metric', 'success');
    expect(table.stdout).toMatch(/success\s+40\s+25\.00 %\s+75\.00 %\s+\+50\.00 %/);
  });

  it('writes a table for a paper and a report, and knows its usage errors', async () => {
    const latex = await runCli(place, 'compare', ...runs, '--common', '--format', 'latex');
    expect(latex.stdout).toContain('$\\mathbf{75.0}\\;[59.8, 85.8]_{\\,n=40}$');
    await runCli(
      place,
      'compare',
      ...runs,
      '--common',
      '--format',
      'html',
      '--output',
      path.join(place.folder, 'report.html'),
    );
    expect(await readFile(path.join(place.folder, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/);
    for (const args of [
      [runs[0] ?? ''],
      [...runs, '--format', 'pdf'],
      [...runs, '--common', '--metric', 'none'],
      ['no-run', 'neither'],
    ])
      expect((await runCli(place, 'compare', ...args)).code).toBe(2);
  });
});

describe('runs export and import', () => {
  it('take a run out as a bundle and in again, and other forms to files', async () => {
    const bundle = path.join(place.folder, 'run.zip');
    expect(
      (await runCli(place, 'runs', 'export', runs[0] ?? '', '--format', 'zip', '--output', bundle)).code,
    ).toBe(0);
    const again = await runCli(place, 'runs', 'import', bundle, '--json');
    expect(again.events.at(-1)).toMatchObject({ kind: 'bundle', episodes: 40 });
    const noOutput = await runCli(place, 'runs', 'export', runs[0] ?? '', '--format', 'parquet');
    expect([noOutput.code, noOutput.stderr]).toEqual([2, 'A parquet file needs --output FILE.\n']);
    const tsv = await runCli(
      place,
      'runs',
      'export',
      runs[0] ?? '',
      '--format',
      'tsv',
      '--filter',
      'success == 1',
    );
    expect(tsv.stdout.trim().split('\n')).toHaveLength(12);
    expect((await runCli(place, 'runs', 'import', 'nothing.json')).code).toBe(2);
    expect((await runCli(place, 'resume', runs[0] ?? '')).stderr).toContain('was imported');
  });
});

describe('replay', () => {
  it('says that nothing was recorded', async () => {
    const listed = await runCli(place, 'replay', runs[0] ?? '');
    expect([listed.code, listed.stdout]).toEqual([
      0,
      'Nothing of this run was recorded. Choose --record all, sample:<count> or failures.\n',
    ]);
    const opened = await runCli(place, 'replay', runs[0] ?? '', '7');
    expect(opened.code).toBe(2);
    expect(opened.stderr).toContain('Nothing of this episode was kept');
  });
});
