import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { NodesetSummary } from '../contract/nodeset.ts';
import type { LoadStage, NodesetRegistry, ReplicaSet } from './ports.ts';
import { firing } from './testing/firing.ts';
import { createTestRegistry, type TestRegistry } from './testing/test-registry.ts';

let test: TestRegistry;

afterEach(async () => {
  await test[Symbol.asyncDispose]();
});

function summary(registry: NodesetRegistry, name: string): NodesetSummary {
  const found = registry.list().find((each) => each.name === name);
  if (!found) throw new Error(`${name} is not listed`);
  return found;
}

async function fire(
  set: ReplicaSet,
  nodeType: string,
  inputs: Record<string, unknown> = {},
): Promise<unknown> {
  const found = set.catalog.lookup(nodeType);
  if (!found) throw new Error(`no ${nodeType}`);
  return await found.bind('n1', found.manifest.defaultConfig).forward(inputs, firing());
}

/** A shared nodeset whose one node says `word`. */
function speaker(word: string, more = ''): string {
  return `import { defineNodeset } from 'agentcanvas';
export default defineNodeset({ name: 'speaker', ${more} create: () => ({ nodes: [{ name: 'say', outputs: [{ name: 'word' }], forward: () => ({ word: '${word}' }) }] }) });`;
}

describe('scanning', () => {
  it('lists what fails with its reason and describes the rest', async () => {
    test = await createTestRegistry([
      'counter.ts',
      'shared',
      'throws-at-import.ts',
      'throws-at-create.ts',
      'calculator',
    ]);
    await writeFile(path.join(test.folder, 'broken.ts'), 'export default {');
    await test.registry.scan();
    expect(test.registry.list().map(({ name, state }) => `${name} ${state}`)).toEqual([
      'broken failed',
      'calculator found',
      'counter found',
      'throws-at-create failed',
      'throws-at-import failed',
    ]);
    expect(summary(test.registry, 'throws-at-import').error).toMatch(/the licence file is missing/);
    expect(summary(test.registry, 'throws-at-create').error).toMatch(/no world to create/);
    expect(summary(test.registry, 'broken').error).toMatch(/broken\.ts:1:\d+: /);
    expect(summary(test.registry, 'counter')).toMatchObject({
      parallelism: 'replicated',
      language: 'typescript',
      origin: 'workspace',
      processes: [],
      nodeTypes: ['counter__step', 'counter__remember', 'counter__fan', 'counter__ended'],
    });
    expect(test.registry.manifests.manifestOf('calculator__add')?.displayName).toBe('add');
    expect(test.registry.manifests.manifestOf('note')).toBeDefined();
    expect(test.processes.list()).toEqual([]);
  });

  it('starts no process the second time, until a source changes', async () => {
    test = await createTestRegistry(['counter.ts', 'shared', 'calculator']);
    await test.registry.scan();
    expect(test.started).toHaveLength(2);
    const again = test.again();
    await again.scan();
    expect(test.started).toHaveLength(2);
    expect(again.list()).toEqual(test.registry.list());
    await writeFile(
      path.join(test.folder, 'shared', 'position.ts'),
      'export const describePosition = (position: number): string => `p${position}`;',
    );
    await again.scan();
    expect(test.started).toEqual(expect.arrayContaining(['counter', 'calculator', 'counter']));
    expect(test.started).toHaveLength(3);
  });

  it('forgets what was removed and tries again what failed', async () => {
    test = await createTestRegistry(['calculator']);
    const file = path.join(test.folder, 'speaker.ts');
    await writeFile(file, speaker('hello', 'parallelism: "sideways" as never,'));
    await test.registry.scan();
    expect(summary(test.registry, 'speaker').error).toMatch(
      /parallelism is "sideways"; write 'shared' or 'replicated'/,
    );
    await writeFile(file, speaker('hello'));
    // Opening a graph reads a failed nodeset again: no scan is needed after a correction.
    await using session = await test.registry.ensureNodesetsForGraph(['speaker'], { replicaCount: 0 });
    expect(session.nodesets).toMatchObject([{ name: 'speaker' }]);
    await rm(path.join(test.folder, 'calculator'), { recursive: true });
    await test.registry.scan();
    expect(test.registry.list().map(({ name }) => name)).toEqual(['speaker']);
  });

  it('runs nothing of a folder that is not trusted, but lists it and says what would run', async () => {
    test = await createTestRegistry(['counter.ts', 'shared', 'calculator'], {
      isTrusted: (file) => !file.includes('counter'),
    });
    await test.registry.scan();
    expect(summary(test.registry, 'counter')).toMatchObject({
      state: 'failed',
      nodeTypes: [],
      error: expect.stringMatching(/not trusted: .*counter\.ts/) as string,
    });
    expect(test.started).toEqual(['calculator']);
    await expect(
      test.registry.ensureNodesetsForGraph(['calculator', 'counter'], { replicaCount: 1 }),
    ).rejects.toMatchObject({
      code: 'untrusted',
      message: expect.stringMatching(/It would run: .*counter\.ts/) as string,
      details: { path: path.join(test.folder, 'counter.ts') },
    });
    await expect(test.registry.load('counter')).rejects.toMatchObject({ code: 'untrusted' });
    expect(test.started).toEqual(['calculator']);
  });

  it('says which content it looked at, so that a click trusts that and nothing newer', async () => {
    const offered = { path: '/nodesets', hash: 'abc' };
    test = await createTestRegistry(['counter.ts', 'shared'], { isTrusted: () => offered });
    await test.registry.scan();
    expect(summary(test.registry, 'counter')).toMatchObject({ errorCode: 'untrusted', offered });
    expect(summary(test.registry, 'counter')).not.toHaveProperty('parallelism');
  });

  it('runs nothing of what is edited between the look at its trust and its compilation', async () => {
    let looks = 0;
    test = await createTestRegistry(['counter.ts', 'shared'], { isTrusted: () => ++looks === 1 });
    await test.registry.scan();
    expect(summary(test.registry, 'counter').error).toMatch(/not trusted: .*counter\.ts/);
    expect([looks, test.started]).toEqual([2, []]);
  });
});

describe('loading', () => {
  it('keeps a shared nodeset for sessions that come, until it is unloaded and the last one ends', async () => {
    test = await createTestRegistry(['calculator']);
    await test.registry.scan();
    const stages: LoadStage[] = [];
    const changes: string[] = [];
    using _listening = test.registry.onChange(({ state, stage }) =>
      changes.push(stage ? `${state} ${stage}` : state),
    );
    expect(await test.registry.load('calculator', { onStage: (stage) => stages.push(stage) })).toMatchObject({
      state: 'loaded',
    });
    expect(stages.map(({ stage }) => stage)).toEqual(['importing', 'initialising', 'ready']);
    expect(changes).toEqual(expect.arrayContaining(['loading importing', 'loading initialising', 'loaded']));
    const session = await test.registry.ensureNodesetsForGraph(['calculator'], { replicaCount: 1 });
    expect(session.report).toMatchObject({ loaded: [], alreadyLoaded: ['calculator'] });
    await test.registry.unload('calculator');
    expect(await fire(session.initial[0] as ReplicaSet, 'calculator__greet')).toEqual({ text: 'hello' });
    expect(summary(test.registry, 'calculator').state).toBe('loaded');
    await session[Symbol.asyncDispose]();
    expect(summary(test.registry, 'calculator').state).toBe('found');
  });

  it('reloads a changed nodeset for new sessions while running ones keep the version they started with', async () => {
    test = await createTestRegistry(['counter.ts', 'shared']);
    const file = path.join(test.folder, 'speaker.ts');
    await writeFile(file, speaker('old'));
    await test.registry.scan();
    await test.registry.load('speaker');
    await using running = await test.registry.ensureNodesetsForGraph(['speaker', 'counter'], {
      replicaCount: 1,
    });
    const [set] = running.initial;
    const before = summary(test.registry, 'speaker').sourceHash;

    await writeFile(file, speaker('new'));
    await writeFile(
      path.join(test.folder, 'shared', 'position.ts'),
      'export const describePosition = (position: number): string => `new ${position}`;',
    );
    expect((await test.registry.reload('speaker')).sourceHash).not.toBe(before);
    await test.registry.reload('counter');

    expect(await fire(set as ReplicaSet, 'speaker__say')).toEqual({ word: 'old' });
    await using later = await test.registry.ensureNodesetsForGraph(['speaker', 'counter'], {
      replicaCount: 1,
    });
    expect(await fire(later.initial[0] as ReplicaSet, 'speaker__say')).toEqual({ word: 'new' });

    // A replacement in the running session is of its own version, too.
    const logOf = async (replicas: ReplicaSet): Promise<unknown> => {
      const context = firing();
      await replicas.catalog.lookup('counter__step')?.bind('n1', {}).forward({ action: 1 }, context);
      return context.logged[0]?.[1];
    };
    await set?.kill();
    await using replacement = await running.startReplicaSet(0);
    expect(await logOf(replacement)).toMatch(/^at /);
    expect(await logOf(later.initial[0] as ReplicaSet)).toMatch(/^new /);
  });

  it('takes up what was edited when asked to look, also of what is loaded, and tells of nothing else', async () => {
    test = await createTestRegistry(['counter.ts', 'shared']);
    const file = path.join(test.folder, 'speaker.ts');
    await writeFile(file, speaker('old'));
    await test.registry.scan();
    await test.registry.load('speaker');
    await using running = await test.registry.ensureNodesetsForGraph(['speaker'], { replicaCount: 1 });
    const before = summary(test.registry, 'counter').sourceHash;
    const told: string[] = [];
    using _listening = test.registry.onChange(({ name }) => told.push(name));
    await test.registry.lookAtChanges(['speaker', 'counter', 'no_such_nodeset']);
    expect(told).toEqual([]);

    await writeFile(file, speaker('new'));
    await writeFile(
      path.join(test.folder, 'shared', 'position.ts'),
      'export const describePosition = (position: number): string => `new ${position}`;',
    );
    await test.registry.lookAtChanges(['speaker', 'counter']);
    expect(summary(test.registry, 'counter').sourceHash).not.toBe(before);
    expect(summary(test.registry, 'speaker').state).toBe('loaded');
    await using later = await test.registry.ensureNodesetsForGraph(['speaker'], { replicaCount: 1 });
    expect(await fire(running.initial[0] as ReplicaSet, 'speaker__say')).toEqual({ word: 'old' });
    expect(await fire(later.initial[0] as ReplicaSet, 'speaker__say')).toEqual({ word: 'new' });

    await writeFile(file, 'export default {');
    await test.registry.lookAtChanges(['speaker']);
    expect(summary(test.registry, 'speaker')).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/speaker\.ts:1:\d+/) as string,
    });
  });

  it('refuses a reload that does not compile, and says where', async () => {
    test = await createTestRegistry([]);
    const file = path.join(test.folder, 'speaker.ts');
    await writeFile(file, speaker('old'));
    await test.registry.scan();
    await writeFile(file, 'export default {');
    await expect(test.registry.reload('speaker')).rejects.toThrow(/speaker\.ts:1:\d+/);
    expect(summary(test.registry, 'speaker').state).toBe('failed');
  });

  it('starts one instance for sessions that open at the same time', async () => {
    test = await createTestRegistry([]);
    await writeFile(
      path.join(test.folder, 'speaker.ts'),
      speaker('x').replace(
        'nodes:',
        'initialize: () => new Promise((done) => setTimeout(done, 100)), nodes:',
      ),
    );
    await test.registry.scan();
    const open = (): ReturnType<NodesetRegistry['ensureNodesetsForGraph']> =>
      test.registry.ensureNodesetsForGraph(['speaker'], { replicaCount: 1 });
    const [first, second] = await Promise.all([open(), open()]);
    expect([first?.report.loaded, second?.report.alreadyLoaded]).toEqual([['speaker'], ['speaker']]);
    await first?.[Symbol.asyncDispose]();
    expect(await fire(second?.initial[0] as ReplicaSet, 'speaker__say')).toEqual({ word: 'x' });
    await second?.[Symbol.asyncDispose]();
  });
});

describe('a shared environment', () => {
  it('serves one worker, and refuses several with what to do', async () => {
    test = await createTestRegistry([]);
    const panel = `envPanel: { fields: [], actions: [], onLoad: () => ({ values: { a: 1 } }), onFieldChange: () => ({ values: {} }), onAction: () => ({ values: {} }), getOptions: () => ['x'] },`;
    await writeFile(path.join(test.folder, 'speaker.ts'), speaker('x').replace('nodes:', `${panel} nodes:`));
    await test.registry.scan();
    await using session = await test.registry.ensureNodesetsForGraph(['speaker'], { replicaCount: 1 });
    expect(await session.initial[0]?.panel('speaker').load()).toMatchObject({
      available: true,
      values: { a: 1 },
    });
    expect(await session.initial[0]?.panel('speaker').options('a')).toEqual(['x']);
    await expect(
      test.registry.ensureNodesetsForGraph(['speaker'], { replicaCount: 2 }),
    ).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(
        /"speaker" is shared, so 2 workers .* parallelism "replicated"/,
      ) as string,
    });
  });
});

const guide = fileURLToPath(new URL('../../docs/write-a-typescript-nodeset.md', import.meta.url));

describe("the author's guide", () => {
  it('shows an environment and a policy that work as printed', async () => {
    const [environment = '', policy = ''] = [
      ...(await readFile(guide, 'utf8')).matchAll(/```ts\n(.*?)```/gs),
    ].map(([, code]) => code ?? '');
    test = await createTestRegistry([]);
    await writeFile(path.join(test.folder, 'corridor.ts'), environment);
    await writeFile(path.join(test.folder, 'walker.ts'), policy);
    await test.registry.scan();
    await using session = await test.registry.ensureNodesetsForGraph(['corridor', 'walker'], {
      replicaCount: 1,
    });
    const [set] = session.initial;
    await set?.panel('corridor').changeField('episode_index', 3);
    await set?.panel('corridor').act('play', {});
    let observed: unknown = await fire(set as ReplicaSet, 'corridor__observe');
    for (let count = 0; count < 30; count++) {
      const action = (await fire(
        set as ReplicaSet,
        'walker__act',
        observed as Record<string, unknown>,
      )) as Record<string, unknown>;
      observed = await fire(set as ReplicaSet, 'corridor__step', action);
      if ((observed as Record<string, unknown>)['done'] === true) break;
    }
    expect(observed).toMatchObject({ distance: 0, done: true, metrics: { success: 1 } });
    expect(await session.evalMetadata('corridor')).toMatchObject({
      episodeCounts: { test: 20 },
      metrics: [{ kind: 'rate' }, { name: 'steps_taken' }],
    });
  });
});
