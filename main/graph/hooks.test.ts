// Hooks with real commands, and what their answers do to a run.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { GraphDefinition } from '../contract/graph.ts';
import { parseHookReply } from './hooks.ts';
import { createShellHookRunner, hooksSupported } from './shell-hook-runner.ts';
import { graphOf, inputsOf, watch } from './testing/graphs.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'hooks é '));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => path.join(folder, name);

const withHooks = (hooks: readonly object[], config: object = {}): GraphDefinition =>
  graphOf({ a: { type: 't_const', config: { value: 1, ...config } }, next: 't_inc' }, ['a.value > next.x'], {
    hooks,
  });
const hook = (event: string, command: string, more: object = {}): object => ({
  event,
  command,
  timeout_ms: 5000,
  ...more,
});

describe.skipIf(!hooksSupported)('hooks through the shell', () => {
  const run = (graph: GraphDefinition): ReturnType<typeof watch> =>
    watch(graph, { hooks: createShellHookRunner({ folder }) });

  it('gives the event as JSON on standard input, at the start, around nodes and at the end', async () => {
    const graph = withHooks([
      hook('GraphStart', 'cat >> log; echo >> log'),
      hook('PreNodeExecute', 'cat >> log; echo >> log', { match_node_type: 't_inc' }),
      hook('PostNodeExecute', 'cat >> log; echo >> log', { match_node_type: 't_inc' }),
      hook('GraphComplete', 'cat >> log; echo >> log'),
      hook('GraphError', 'cat >> log; echo >> log'),
    ]);
    expect((await run(graph)).result.status).toBe('completed');
    const events = readFileSync(file('log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).toEqual([
      { event: 'GraphStart', graph_name: 'test', node_count: 2 },
      { event: 'PreNodeExecute', node_type: 't_inc', node_id: 'next', step: 0, inputs: { x: 1 } },
      {
        event: 'PostNodeExecute',
        node_type: 't_inc',
        node_id: 'next',
        step: 0,
        outputs: { y: 2 },
        error: null,
      },
      { event: 'GraphComplete', step: 0, terminated: false },
    ]);
  });

  it('changes inputs and outputs, and blocks', async () => {
    const modify = (data: object): string =>
      `echo '${JSON.stringify({ action: 'modify', modified_data: data })}'`;
    const changed = await run(
      withHooks([
        hook('PreNodeExecute', modify({ x: 10 }), { match_node_id: 'next' }),
        hook('PostNodeExecute', modify({ value: 5 }), { match_node_type: 't_const' }),
      ]),
    );
    expect(inputsOf(changed, 'next')).toEqual([{ x: 10 }]);
    const blocked = await run(
      withHooks([hook('PreNodeExecute', `echo '{"action": "block"}'`, { match_node_id: 'a' })]),
    );
    expect(blocked.order).toEqual([]);
    expect(blocked.result.status).toBe('completed');
  });

  it.each([
    ['fails', 'exit 3'],
    ['says what is no JSON', 'echo hello'],
    ['does not exist', '/nowhere/command'],
    ['is late', 'sleep 20 & sleep 20'],
  ])('goes on as if nothing had been when a hook %s', async (_what, command) => {
    const startedMs = performance.now();
    const { order } = await run(
      withHooks([hook('PreNodeExecute', command, { timeout_ms: 150, match_node_id: 'next' })]),
    );
    expect(order).toEqual(['a', 'next']);
    expect(performance.now() - startedMs).toBeLessThan(4000);
  });

  it('leaves no process behind when its time is over', async () => {
    await run(
      withHooks([
        hook('PreNodeExecute', 'sleep 31.4159 & echo $! > pid; wait', {
          timeout_ms: 300,
          match_node_id: 'next',
        }),
      ]),
    );
    const pid = Number(readFileSync(file('pid'), 'utf8'));
    await expect.poll(() => isAlive(pid), { timeout: 2000 }).toBe(false);
  });

  it("runs hooks of a node's own config for that node, none that is disabled, and none without a runner", async () => {
    const own = withHooks([hook('PreNodeExecute', 'echo graph >> own', { enabled: false })], {
      hooks: [hook('PreNodeExecute', 'echo node >> own')],
    });
    await run(own);
    expect(readFileSync(file('own'), 'utf8')).toBe('node\n');
    await watch(own, { hooks: null });
    expect(readFileSync(file('own'), 'utf8')).toBe('node\n');
  });
});

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

describe('answers', () => {
  it.each([
    ['', 'continue'],
    ['nonsense', 'continue'],
    ['[]', 'continue'],
    ['{"action": "dance"}', 'continue'],
    ['{"action": "modify"}', 'continue'],
    ['{"action": "block"}', 'block'],
    ['{"action": "modify", "modified_data": {}}', 'modify'],
  ])('%j means %s', (output, action) => {
    expect(parseHookReply(output).action).toBe(action);
  });
});
