// The command line as its users meet it: real processes, real environments, exit codes, Ctrl-C, kill and resume.
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { programFor } from './cli/context.ts';
import {
  buildCli,
  livingProcesses,
  makeSurroundings,
  readJournal,
  runCli,
  startCli,
  type FinalRow,
  type Finished,
  type Surroundings,
} from './testing/cli-process.ts';

const isLinux = process.platform === 'linux';
const lastEvent = (result: Finished): Record<string, unknown> => ({ ...result.events.at(-1) });
const outcomes = (rows: readonly FinalRow[]): string[] =>
  rows
    .filter((row) => row.final)
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .map((row) => JSON.stringify([row.ordinal, row.status, row.steps, row.metrics]));

let place: Surroundings;
beforeAll(async () => {
  buildCli();
  place = await makeSurroundings();
}, 60_000);

describe('eval', () => {
  it('runs the expert over unseen apartments: exit code 0, success 1.0, the same episodes with 1, 2 and 4 workers', async () => {
    const results: string[][] = [];
    for (const workers of ['1', '2', '4']) {
      const result = await runCli(
        place,
        'eval',
        'minivln_expert',
        '--split',
        'val_unseen',
        '--episodes',
        '12',
        '--workers',
        workers,
        '--json',
      );
      expect(result.stderr).toBe('');
      expect(result.code).toBe(0);
      expect(lastEvent(result)).toMatchObject({
        event: 'run.finished',
        status: 'completed',
        counts: { planned: 12, completed: 12, not_run: 0 },
        metrics: { success: { mean: 1, n: 12, method: 'wilson' }, spl: { n: 12 } },
      });
      expect(result.events.filter((event) => event.event === 'episode.finished')).toHaveLength(12);
      results.push(outcomes(await readJournal(place, String(lastEvent(result)['run_id']))));
    }
    expect(results[0]).toHaveLength(12);
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  it('repeats episodes with seeds of their own and chooses them by range, id and sample', async () => {
    const repeated = await runCli(
      place,
      'eval',
      'minivln_random',
      '--split',
      'val_seen',
      '--range',
      '3-4',
      '--repeats',
      '2',
      '--seed',
      '5',
      '--json',
    );
    const rows = await readJournal(place, String(lastEvent(repeated)['run_id']));
    expect(rows).toHaveLength(4);
    const byIds = await runCli(
      place,
      'eval',
      'minivln_random',
      '--split',
      'val_seen',
      '--ids',
      'vs_000003',
      '--seed',
      '5',
      '--json',
    );
    expect(lastEvent(byIds)).toMatchObject({ counts: { planned: 1, completed: 1 } });
    const [first] = await readJournal(place, String(lastEvent(byIds)['run_id']));
    expect(JSON.stringify(first?.metrics)).toBe(
      JSON.stringify(rows.find((row) => row.ordinal === 0)?.metrics),
    );
  });

  it('checks everything and starts nothing with --dry-run', async () => {
    const before = await readdir(path.join(place.workspace, 'outputs/eval_runs'));
    const result = await runCli(
      place,
      'eval',
      'minivln_expert',
      '--split',
      'val_unseen',
      '--episodes',
      'all',
      '--dry-run',
      '--json',
    );
    expect(result.code).toBe(0);
    expect(lastEvent(result)).toMatchObject({ event: 'preflight', ok: true, episodes: 1839 });
    expect(await readdir(path.join(place.workspace, 'outputs/eval_runs'))).toEqual(before);
  });
});

describe('interruptions', () => {
  it.skipIf(!isLinux)(
    'pressed twice before anything is in flight, Ctrl-C is a cancellation: 130',
    async () => {
      const where = await makeSurroundings();
      const running = startCli(where, [
        'eval',
        'minivln_random',
        '--split',
        'val_unseen',
        '--episodes',
        '60',
        '--json',
      ]);
      await running.waitFor((event) => event.event === 'run.started');
      running.child.kill('SIGINT');
      await delay(100);
      running.child.kill('SIGINT');
      const ended = await running.finished;
      expect(ended.code).toBe(130);
      expect(lastEvent(ended)).toMatchObject({ event: 'run.finished', counts: { completed: 0 } });
      expect(ended.stderr).not.toMatch(/Error|conflict|not going on/);
    },
  );

  it.skipIf(!isLinux)(
    'stops by Ctrl-C with exit code 3, and resume runs exactly what is missing',
    async () => {
      const where = await makeSurroundings();
      const running = startCli(where, [
        'eval',
        'minivln_random',
        '--split',
        'val_unseen',
        '--step-budget',
        '60',
        '--episodes',
        '120',
        '--workers',
        '2',
        '--json',
      ]);
      let finishedEpisodes = 0;
      await running.waitFor((event) => event.event === 'episode.finished' && ++finishedEpisodes >= 10);
      running.child.kill('SIGINT');
      const stopped = await running.finished;
      expect([stopped.code, lastEvent(stopped)['status']]).toEqual([3, 'paused']);
      await expect.poll(() => livingProcesses(where), { timeout: 2000 }).toEqual([]);
      const runId = String(lastEvent(stopped)['run_id']);
      const done = (await readJournal(where, runId)).filter((row) => row.final).length;
      expect(done).toBeLessThan(120);
      const resumed = await runCli(where, 'resume', runId, '--json');
      expect([resumed.code, lastEvent(resumed)['status']]).toEqual([0, 'completed']);
      expect(resumed.events.filter((event) => event.event === 'episode.finished')).toHaveLength(120 - done);
      const whole = await runCli(
        where,
        'eval',
        'minivln_random',
        '--split',
        'val_unseen',
        '--step-budget',
        '60',
        '--episodes',
        '120',
        '--workers',
        '2',
        '--json',
      );
      expect(outcomes(await readJournal(where, runId))).toEqual(
        outcomes(await readJournal(where, String(lastEvent(whole)['run_id']))),
      );
    },
  );

  it.skipIf(!isLinux)('loses nothing and leaves nothing behind when it is killed in the middle', async () => {
    const where = await makeSurroundings();
    const running = startCli(where, [
      'eval',
      'minivln_random',
      '--split',
      'val_seen',
      '--episodes',
      '100',
      '--workers',
      '2',
      '--json',
    ]);
    let count = 0;
    const reported = await running.waitFor((event) => event.event === 'episode.finished' && ++count >= 15);
    const children = await livingProcesses(where);
    expect(children.length).toBeGreaterThanOrEqual(3);
    running.child.kill('SIGKILL');
    await running.finished;
    const killedMs = performance.now();
    while ((await livingProcesses(where)).length > 0 && performance.now() - killedMs < 5000)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(performance.now() - killedMs).toBeLessThan(2000);
    const runId = String(reported['run_id']);
    const committed = (await readJournal(where, runId)).filter((row) => row.final);
    expect(committed.length).toBeGreaterThanOrEqual(15);

    const listed = await runCli(where, 'runs', 'list', '--json');
    expect(listed.events[0]).toMatchObject({ runId, status: 'interrupted' });
    const resumed = await runCli(where, 'resume', runId, '--json');
    expect(resumed.events[0]).toMatchObject({ event: 'run.resumed', missing: 100 - committed.length });
    expect(lastEvent(resumed)).toMatchObject({
      status: 'completed',
      counts: { planned: 100, completed: 100 },
    });
    const whole = await runCli(
      where,
      'eval',
      'minivln_random',
      '--split',
      'val_seen',
      '--episodes',
      '100',
      '--json',
    );
    expect(outcomes(await readJournal(where, runId))).toEqual(
      outcomes(await readJournal(where, String(lastEvent(whole)['run_id']))),
    );
  });
});

describe('a second process', () => {
  it('sends its requests to the owner: sees the run, is refused by the guard, queues; what is queued is run by the next owner', async () => {
    const where = await makeSurroundings();
    const first = startCli(where, [
      'eval',
      'minivln_random',
      '--split',
      'train',
      '--episodes',
      '5000',
      '--json',
    ]);
    const started = await first.waitFor((event) => event.event === 'episode.finished');
    const runId = String(started['run_id']);
    const listed = await runCli(where, 'runs', 'list', '--json');
    expect(listed.events[0]).toMatchObject({ runId, status: 'running' });
    const refused = await runCli(
      where,
      'eval',
      'minivln_expert',
      '--split',
      'train',
      '--episodes',
      '1',
      '--json',
    );
    expect([refused.code, lastEvent(refused)['code']]).toEqual([2, 'guard_busy']);
    const second = startCli(where, [
      'eval',
      'minivln_expert',
      '--split',
      'train',
      '--episodes',
      '2',
      '--queue',
      '--json',
    ]);
    await second.waitFor((event) => event.event === 'run.queued');
    first.child.kill('SIGTERM');
    expect((await first.finished).code).toBe(3);
    // A stopped owner leaves the queue to the next one; whoever waited learns that the run can still go on.
    expect((await second.finished).code).toBe(3);
    const left = await runCli(where, 'runs', 'list', '--json');
    expect(
      left.events.map((event) => event['status']).toSorted((a, b) => String(a).localeCompare(String(b))),
    ).toEqual(['paused', 'queued']);
    const third = await runCli(
      where,
      'eval',
      'minivln_expert',
      '--split',
      'train',
      '--episodes',
      '1',
      '--json',
    );
    expect([third.code, third.events.filter((event) => event.event === 'run.finished').length]).toEqual([
      0, 1,
    ]);
    const after = await runCli(where, 'runs', 'list', '--json');
    expect(
      after.events.map((event) => event['status']).toSorted((a, b) => String(a).localeCompare(String(b))),
    ).toEqual(['completed', 'completed', 'paused']);
  });
});

describe('runs', () => {
  it('are listed, shown, exported, deleted to the trash and indexed anew', async () => {
    const where = await makeSurroundings();
    const run = await runCli(
      where,
      'eval',
      'minivln_expert',
      '--split',
      'val_seen',
      '--episodes',
      '3',
      '--tag',
      'paper',
      '--note',
      '=SUM(A1)',
      '--json',
    );
    const runId = String(lastEvent(run)['run_id']);
    expect((await runCli(where, 'runs', 'list', '--search', 'paper')).stdout).toContain(runId);
    expect((await runCli(where, 'runs', 'show', runId)).stdout).toContain('3 planned = 3 completed');
    const csv = await runCli(where, 'runs', 'export', runId);
    expect(csv.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toHaveLength(4);
    const filtered = await runCli(
      where,
      'runs',
      'export',
      runId,
      '--format',
      'jsonl',
      '--filter',
      'success == 0',
    );
    expect(filtered.stdout.split('\n').filter((line) => line.includes('"ordinal"'))).toHaveLength(0);
    await writeFile(path.join(where.workspace, '.cache/index.sqlite'), 'not a database');
    expect((await runCli(where, 'runs', 'list')).stdout).toContain(runId);
    expect((await runCli(where, 'runs', 'rebuild-index')).stdout).toContain('1 runs indexed');
    expect((await runCli(where, 'runs', 'delete', runId)).code).toBe(0);
    expect((await runCli(where, 'runs', 'list')).stdout).toContain('No runs yet');
    expect(
      (await readdir(path.join(where.workspace, 'outputs/.trash'))).some((name) => name.includes(runId)),
    ).toBe(true);
    expect((await runCli(where, 'runs', 'show', runId)).code).toBe(2);
  });
});

describe('bad input', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['an unknown graph', ['eval', 'nothing'], /no graph "nothing".*minivln_expert/],
    ['an unknown split', ['eval', 'minivln_expert', '--split', 'test'], /no split "test".*val_unseen/],
    [
      'more episodes than exist',
      ['eval', 'minivln_expert', '--split', 'val_unseen', '--episodes', '2000'],
      /1,839/,
    ],
    ['an unknown selector', ['eval', 'minivln_expert', '--select', 'floor=2'], /floor/],
    ['an unknown episode id', ['eval', 'minivln_expert', '--split', 'val_unseen', '--ids', 'zz'], /zz/],
    ['no workers', ['eval', 'minivln_expert', '--workers', '0'], /--workers/],
    ['a budget of 0', ['eval', 'minivln_expert', '--step-budget', '0'], /--step-budget/],
    ['two ways to choose', ['eval', 'minivln_expert', '--episodes', '1', '--ids', 'a'], /one of/],
    ['a flag that is not one', ['eval', 'minivln_expert', '--wrokers', '2'], /--workers/],
    ['an unknown command', ['evaluate'], /unknown command/],
    ['an unknown run', ['resume', '20200101T000000.000Z-000000'], /no run/],
    ['a run id that is a path', ['runs', 'show', '../../etc'], /run id/],
    ['an unknown format', ['runs', 'export', 'x', '--format', 'xlsx'], /--format takes csv/],
  ];
  it.each(cases)(
    '%s is refused with exit code 2 and a line that says what to do',
    async (_name, args, message) => {
      const result = await runCli(place, ...args);
      expect(result.stderr.replaceAll('\n', ' ')).toMatch(message);
      expect(result.code).toBe(2);
    },
  );

  it('hints can be pasted: they name the workspace that was given', () => {
    expect(programFor({})).toBe('agentcanvas');
    expect(programFor({ workspace: './w' })).toBe('agentcanvas --workspace ./w');
    if (process.platform === 'win32') return;
    expect(programFor({ workspace: "/my $HOME's" })).toBe("agentcanvas --workspace '/my $HOME'\\''s'");
  });

  it('leaves no run behind where the checks before the start see it', async () => {
    const listed = async (): Promise<string> => (await runCli(place, 'runs', 'list')).stdout;
    const before = await listed();
    const mistyped = ['eval', 'minivln_expert', '--split', 'test', '--episodes', '1'];
    expect((await runCli(place, ...mistyped)).code).toBe(2);
    expect(await listed()).toBe(before);
    expect((await runCli(place, ...mistyped, '--no-checks')).code).toBe(2);
    expect(await listed()).not.toBe(before);
  });

  it('names the node and the fix for a graph with errors', async () => {
    const graph = {
      name: 'bad',
      nodes: [
        { id: 'a', type: 'initialize' },
        { id: 'out', type: 'graphOut', config: { portName: 'metrics' } },
      ],
      edges: [],
    };
    const file = path.join(place.folder, 'bad graph.json');
    await writeFile(file, JSON.stringify(graph));
    const validated = await runCli(place, 'graphs', 'validate', file);
    expect([validated.code, validated.stdout.includes('a')]).toEqual([2, true]);
    const evaluated = await runCli(place, 'eval', file);
    expect(evaluated.code).toBe(2);
    expect(evaluated.stderr).toContain('initialize');
    await writeFile(file, '{"nodes": [');
    expect((await runCli(place, 'graphs', 'validate', file)).code).toBe(2);
  });

  it('lists a nodeset that throws at import as failed, and asks before running what is not trusted', async () => {
    const where = await makeSurroundings();
    const nodesets = path.join(where.workspace, 'nodesets');
    await mkdir(nodesets, { recursive: true });
    await writeFile(
      path.join(nodesets, 'broken.ts'),
      "throw new Error('no licence file');\nexport default {};\n",
    );
    await writeFile(
      path.join(where.workspace, 'graphs', 'uses_broken.json'),
      JSON.stringify({
        name: 'uses_broken',
        nodes: [
          { id: 'a', type: 'broken__x' },
          { id: 'o', type: 'graphOut', config: { portName: 'metrics' } },
        ],
        edges: [{ id: 'e', source: 'a', target: 'o', sourceHandle: 'y', targetHandle: 'value' }],
      }),
    );
    const untrusted = await runCli(where, 'eval', 'uses_broken', '--json');
    expect(untrusted.code).toBe(2);
    expect(untrusted.stderr).toMatch(/trust/);
    const trusted = await runCli(where, '--trust', where.workspace, 'nodesets', 'list');
    expect(trusted.stdout).toMatch(/broken .*failed.*no licence file/);
    const failed = await runCli(where, 'eval', 'uses_broken');
    expect([failed.code, failed.stderr.includes('no licence file')]).toEqual([2, true]);
    expect((await runCli(where, 'eval', 'minivln_expert', '--episodes', '1', '--split', 'train')).code).toBe(
      0,
    );
    await expect.poll(() => (isLinux ? livingProcesses(where) : []), { timeout: 2000 }).toEqual([]);
  });

  it('runs the hooks of a graph only from a trusted folder', async () => {
    const where = await makeSurroundings();
    const graph = {
      name: 'hooked',
      eval_graph: true,
      nodes: [
        { id: 'n', type: 'nullSource' },
        { id: 'o', type: 'graphOut', config: { portName: 'value' } },
      ],
      edges: [{ id: 'e', source: 'n', target: 'o', sourceHandle: 'value', targetHandle: 'value' }],
      hooks: [{ event: 'GraphStart', command: `touch "${where.workspace}/hook ran"` }],
    };
    await writeFile(path.join(where.workspace, 'graphs', 'hooked.json'), JSON.stringify(graph));
    const refused = await runCli(where, 'eval', 'hooked', '--episodes', '1');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('touch');
    expect(await readdir(where.workspace)).not.toContain('hook ran');
    if (process.platform === 'win32') return;
    const file = path.join(where.workspace, 'graphs', 'hooked.json');
    await runCli(where, 'eval', 'hooked', '--episodes', '1', '--trust-content', file);
    expect(await readdir(where.workspace)).toContain('hook ran');
    // Other commands in the same file are not what was trusted.
    const other = `touch "${where.workspace}/other hook ran"`;
    await writeFile(file, JSON.stringify({ ...graph, hooks: [{ event: 'GraphStart', command: other }] }));
    expect((await runCli(where, 'eval', 'hooked', '--episodes', '1')).code).toBe(2);
    expect(await readdir(where.workspace)).not.toContain('other hook ran');
    await runCli(where, 'eval', 'hooked', '--episodes', '1', '--trust', where.workspace);
    expect(await readdir(where.workspace)).toContain('other hook ran');
  });

  it('runs what was trusted by its content until it is edited, then asks again', async () => {
    const where = await makeSurroundings();
    const nodesets = path.join(where.workspace, 'nodesets');
    const marker = path.join(where.workspace, 'ran');
    const code = (word: string): string =>
      `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(marker)}, '${word};');\nexport default {};\n`;
    await mkdir(nodesets, { recursive: true });
    await writeFile(path.join(nodesets, 'writer.ts'), code('first'));
    await runCli(where, 'nodesets', 'list');
    expect(await readdir(where.workspace)).not.toContain('ran');
    await runCli(where, 'nodesets', 'list', '--trust-content', path.join(nodesets, 'writer.ts'));
    await runCli(where, 'nodesets', 'load', 'writer');
    const before = await readFile(marker, 'utf8');
    expect(before).toMatch(/^(first;)+$/);
    await writeFile(path.join(nodesets, 'writer.ts'), code('second'));
    const asked = await runCli(where, 'nodesets', 'list');
    expect(asked.stdout).toMatch(/writer .*not trusted/);
    expect((await runCli(where, 'nodesets', 'load', 'writer')).code).toBe(2);
    expect(await readFile(marker, 'utf8')).toBe(before);
    // A workspace changes with every run, so no hash stands for it.
    const refused = await runCli(where, 'nodesets', 'list', '--trust-content', where.workspace);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is a workspace')]);
  });
});
