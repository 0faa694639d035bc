import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { StopExecution } from '../graph/ports.ts';
import { createPythonFinder } from './hosts/python-finder.ts';
import { createInterpreterResolver } from './interpreter-resolver.ts';
import type { BatchBackend, BatchingPort, NodesetRegistry, ReplicaSet } from './ports.ts';
import { firing } from './testing/firing.ts';
import {
  createTestRegistry,
  pythonFolder,
  pythonInterpreter,
  type TestRegistry,
} from './testing/test-registry.ts';

let test: TestRegistry;
const interpreter = pythonInterpreter();
const hasHost = existsSync(path.join(pythonFolder, 'agentcanvas_host')) && existsSync(interpreter);

afterEach(async () => {
  await test[Symbol.asyncDispose]();
});

async function withTalker(): Promise<NodesetRegistry> {
  const resolveInterpreter = createInterpreterResolver();
  test = await createTestRegistry(['talker', 'calculator'], { interpreter });
  const finder = createPythonFinder({
    processes: test.processes,
    clock: systemClock,
    interpreter: () => resolveInterpreter({ wanted: interpreter, baseFolder: '/' }),
    pythonFolder,
  });
  const registry = test.again({ findPython: finder });
  await registry.scan();
  return registry;
}

async function say(set: ReplicaSet | undefined, word: string): Promise<Record<string, unknown>> {
  const found = set?.catalog.lookup('talker__say');
  if (!found) throw new Error('no talker__say');
  return (await found.bind('n1', { loud: true }).forward({ word }, firing())) as Record<string, unknown>;
}

describe.skipIf(!hasHost)('a Python nodeset', () => {
  it('is found without being imported, described by its host, and cached', async () => {
    await using registry = await withTalker();
    expect(
      registry.list().map(({ name, language, state, error }) => ({ name, language, state, error })),
    ).toEqual([
      { name: 'calculator', language: 'typescript', state: 'found', error: undefined },
      { name: 'talker', language: 'python', state: 'found', error: undefined },
    ]);
    expect(registry.manifest('talker')).toMatchObject({
      description: 'Talks',
      language: 'python',
      nodes: [
        { nodeType: 'talker__say', defaultConfig: { loud: false } },
        { batched: true, batchDim: 'word' },
      ],
    });
    const startedBefore = test.started.length;
    await registry.scan();
    expect(test.started).toHaveLength(startedBefore);
  });

  it('is listed as failed when its file has a syntax error, while the others work', async () => {
    await using registry = await withTalker();
    await writeFile(
      path.join(test.folder, 'wrong.py'),
      'from app.components import BaseNodeSet\nclass Wrong(BaseNodeSet:\n',
    );
    await registry.scan();
    expect(registry.list().find(({ name }) => name === 'wrong')).toMatchObject({
      state: 'failed',
      language: 'python',
      error: expect.stringMatching(/wrong\.py cannot be read as Python: SyntaxError/) as string,
    });
    expect(registry.manifest('talker')).toBeDefined();
  });

  it('ends a run by raising StopExecution, and the process lives on', async () => {
    await using registry = await withTalker();
    await using session = await registry.ensureNodesetsForGraph(['talker'], { replicaCount: 1 });
    const [set] = session.initial;
    const { pid } = await say(set, 'hello');
    await expect(say(set, 'stop')).rejects.toBeInstanceOf(StopExecution);
    expect(await say(set, 'again')).toMatchObject({ pid });
  });

  it('answers a batch of all workers in one call, from a fresh process after a reset', async () => {
    await using registry = await withTalker();
    const backends: BatchBackend[] = [];
    const batching: BatchingPort = {
      wrap(nodeType, backend) {
        backends.push(backend);
        return nodeType;
      },
    };
    await using session = await registry.ensureNodesetsForGraph(['talker'], { replicaCount: 2, batching });
    expect(session.initial).toHaveLength(2);
    const [backend] = backends;
    const { signal } = new AbortController();
    const shout = async (): Promise<readonly Record<string, unknown>[]> =>
      (await backend?.call([{ word: 'a' }, { word: 'b' }], {}, signal)) ?? [];
    const first = await shout();
    expect(first).toMatchObject([
      { loud: 'A', of: 2 },
      { loud: 'B', of: 2 },
    ]);
    await backend?.reset();
    const second = await shout();
    expect(second).toMatchObject([{ loud: 'A' }, { loud: 'B' }]);
    expect(second[0]?.['pid']).not.toBe(first[0]?.['pid']);
  });

  it('that is shared is one process for all workers, restarted when it dies, until it dies too often', async () => {
    await using registry = await withTalker();
    await using session = await registry.ensureNodesetsForGraph(['talker'], { replicaCount: 2 });
    const [first, second] = session.initial;
    const { pid } = await say(first, 'hello');
    expect(await say(second, 'hello')).toMatchObject({ pid, word: 'hello', loud: true });
    expect(registry.list().find(({ name }) => name === 'talker')?.processes).toMatchObject([
      { name: 'talker', pid },
    ]);

    await expect(say(first, 'die')).rejects.toMatchObject({
      code: 'process_died',
      details: { signal: 'SIGKILL' },
      scope: { phase: 'call', nodePath: 'n1' },
    });
    const after = await say(second, 'again');
    expect(after).toMatchObject({ word: 'again', loud: true });
    expect(after['pid']).not.toBe(pid);

    await expect(say(first, 'leave')).rejects.toMatchObject({ details: { exitCode: 4 } });
    await expect(say(first, 'leave')).rejects.toMatchObject({ details: { exitCode: 4 } });
    await expect(say(first, 'leave')).rejects.toMatchObject({ code: 'process_died' });
    await expect(say(first, 'hello')).rejects.toThrow(
      /talker ended 3 times without answering in between and stays down/,
    );
  });
});
