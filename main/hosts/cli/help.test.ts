// What a newcomer reads and tries: help that says something of everything, and the checks and changes of a run.
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../cli.ts';
import { buildCli, makeSurroundings, runCli, type Surroundings } from '../testing/cli-process.ts';
import { exitCodes } from './exit-codes.ts';

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

describe('help', () => {
  const program = createProgram({ streams: process, exitCode: exitCodes.ok });

  it('describes every command, argument and option, with defaults as they would be typed', () => {
    const silent: string[] = [];
    for (const command of allCommands(program)) {
      const where = command.name();
      if (command.description() === '') silent.push(where);
      for (const argument of command.registeredArguments)
        if (argument.description === '') silent.push(`${where} ${argument.name()}`);
      for (const { flags, description, defaultValue } of command.options)
        if (description === '' || defaultValue === '' || Array.isArray(defaultValue))
          silent.push(`${where} ${flags}`);
    }
    expect(silent).toEqual([]);
  });

  it('says what a field that is left out becomes', () => {
    const [evaluate] = program.commands.filter((command) => command.name() === 'eval');
    const help = evaluate?.helpInformation() ?? '';
    expect(help).toMatch(/--workers <N> .*\(default: 1\)/s);
    expect(help).toMatch(/--record <failures\|none\|all\|sample:N>[^-]*\(default:\s+failures\)/);
  });
});

describe('a run', () => {
  let place: Surroundings;
  beforeAll(async () => {
    buildCli();
    place = await makeSurroundings();
  }, 60_000);

  it('is checked with one and two workers to the end, without an owner that would start the second', async () => {
    const flags = ['--split', 'val_seen', '--check-episodes', '3', '--counts', '1,2', '--step-budget', '20'];
    const checked = await runCli(place, 'parallel-check', 'minivln_random', ...flags, '--json');
    expect([checked.code, checked.stderr]).toEqual([0, '']);
    expect(checked.events.at(-1)).toMatchObject({ event: 'parallel_check.compared', pairs: 3, total: 0 });
    const [started] = checked.events;
    const [runId = '', otherRun = ''] = (started?.['run_ids'] ?? []) as string[];

    const edited = await runCli(place, 'runs', 'edit', runId, '--tag', 'paper, two words', '--note', 'kept');
    expect(edited.code).toBe(0);
    const found = await runCli(place, 'runs', 'list', '--search', 'two words', '--json');
    expect(found.events).toMatchObject([{ runId, tags: ['paper', 'two words'], note: 'kept' }]);
    expect((await runCli(place, 'runs', 'stop', runId)).stderr).toContain('neither going on nor queued');

    const grouped = await runCli(place, 'compare', runId, otherRun, '--group-by', 'length', '--json');
    const groups = grouped.events.filter(({ event }) => event === 'group');
    expect(groups.length).toBeGreaterThan(0);
    expect(groups.reduce((sum, { pairs }) => sum + Number(pairs), 0)).toBe(3);
    const wrong = await runCli(place, 'compare', runId, otherRun, '--group-by', 'colour');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--group-by takes scene, task')]);
  }, 120_000);

  it('is refused with the flag as it was typed', async () => {
    const refused = await runCli(place, 'eval', 'minivln_random', '--record', 'sometimes');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/^--record: failures, none/)]);
  });
});
