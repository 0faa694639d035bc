// The Docker spawner against a recording client, with real hosts behind it.
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { isRunning, readEntry } from '../../process/process-table.ts';
import { createPythonFinder } from '../hosts/python-finder.ts';
import type { NodesetRegistry, ReplicaSet } from '../ports.ts';
import { firing } from '../testing/firing.ts';
import {
  createTestRegistry,
  pythonFolder,
  pythonInterpreter,
  type TestRegistry,
} from '../testing/test-registry.ts';
import { createPlaceChecker } from './check-place.ts';
import { choosePlace } from './choose-place.ts';
import { runArguments, publishedAddress } from './docker-command.ts';
import { DockerSpawner } from './docker.ts';
import { createLocalProcessSpawner } from './local-process.ts';
import { createPlacedSpawner } from './placed-spawner.ts';
import { spawnerSettings } from '../../contract/spawners.ts';
import { createPythonLauncher } from '../hosts/python-launcher.ts';
import { createNodeLauncher } from '../hosts/node-launcher.ts';

const interpreter = pythonInterpreter();
const hasPython = existsSync(interpreter) && process.platform !== 'win32';

interface Call {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

let folder: string;
let docker: string;
let test: TestRegistry;
let spawner: DockerSpawner;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'fake-docker-'));
  docker = path.join(folder, 'docker');
  const program = await readFile(path.join(import.meta.dirname, 'testing/fake-docker.mjs'), 'utf8');
  await writeFile(path.join(folder, 'docker.mjs'), program);
  // As a program on PATH: the client is found, not told.
  await writeFile(docker, `#!/bin/sh\nexec '${process.execPath}' '${folder}/docker.mjs' "$@"\n`);
  await chmod(docker, 0o755);
});

afterEach(async () => {
  await spawner?.[Symbol.asyncDispose]();
  await test?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function calls(): Promise<readonly Call[]> {
  const text = await readFile(path.join(folder, 'calls.jsonl'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Call);
}

async function withCrate(): Promise<NodesetRegistry> {
  test = await createTestRegistry(['crate.py']);
  const { processes } = test;
  const finder = createPythonFinder({
    processes,
    clock: systemClock,
    interpreter: () => Promise.resolve(interpreter),
    pythonFolder,
  });
  spawner = new DockerSpawner({
    processes,
    clock: systemClock,
    logger: silentLogger,
    recordsFolder: path.join(folder, 'records'),
    command: () => docker,
  });
  const registry = test.again({
    findPython: finder,
    checkPlace: createPlaceChecker({
      settings: () => spawnerSettings.parse({ docker: { command: docker } }),
      probe: { ask: () => Promise.reject(new Error('not asked')) },
      resolveInterpreter: () => Promise.reject(new Error('not asked')),
    }),
    runtime: {
      clock: systemClock,
      spawner: createPlacedSpawner({ local: createLocalProcessSpawner(processes), docker: spawner }),
      placeOf: (source, forRun) => choosePlace(source, spawnerSettings.parse({}), forRun),
      launchers: {
        typescript: createNodeLauncher(),
        python: createPythonLauncher({
          pythonFolder,
          resolveInterpreter: () => Promise.reject(new Error('an image brings its own interpreter')),
        }),
      },
    },
  });
  await registry.scan();
  return registry;
}

async function count(set: ReplicaSet | undefined, word: string): Promise<Record<string, unknown>> {
  const found = set?.catalog.lookup('crate__count');
  if (!found) throw new Error('no crate__count');
  return (await found.bind('n1', {}).forward({ word }, firing())) as Record<string, unknown>;
}

describe('the command line of a container', () => {
  const start = {
    nodeset: 'maze',
    needs: {
      image: 'maze:1',
      gpu: 'device=0,1',
      mounts: ['/srv/a,b:/data:ro', '/scratch'],
      user: '1000',
      cpus: 2,
    },
    command: 'python3',
    args: ['-m', 'agentcanvas_host', '--file', '/ws/nodesets/maze/maze.py', '--class', 'Maze'],
    cwd: '/ws/nodesets/maze',
    env: { MAZE_KEY: 'secret', PATH: '/opt/maze/bin', PYTHONPATH: '/app/python' },
    files: ['/app/python', '/ws/nodesets/maze'],
    ownerMarker: 'ac1-0-1-2-3-deadbeef',
    name: 'ac1-0-1-2-3-deadbeef-1',
    idFile: '/cache/containers/one.cid',
    doorFolder: '/tmp/door',
  };

  it('is this one', () => {
    expect(runArguments(start)).toEqual([
      'run', '--rm', '-i', '--init',
      '--name', 'ac1-0-1-2-3-deadbeef-1',
      '--label', 'agentcanvas.owner=ac1-0-1-2-3-deadbeef',
      '--label', 'agentcanvas.process=maze',
      '--cidfile', '/cache/containers/one.cid',
      '--network', 'bridge',
      '--publish', '127.0.0.1::47100',
      '--security-opt', 'no-new-privileges',
      '--gpus', 'device=0,1',
      '--user', '1000',
      '--cpus', '2',
      '--mount', 'type=bind,source=/app/python,target=/app/python,readonly',
      '--mount', 'type=bind,source=/ws/nodesets/maze,target=/ws/nodesets/maze,readonly',
      '--mount', 'type=bind,source=/tmp/door,target=/agentcanvas/door',
      '--mount', 'type=bind,"source=/srv/a,b",target=/data,readonly',
      '--mount', 'type=bind,source=/scratch,target=/scratch',
      '--workdir', '/ws/nodesets/maze',
      '--env', 'AGENTCANVAS_OWNER', '--env', 'AGENTCANVAS_NONCE', '--env', 'AGENTCANVAS_LISTEN',
      '--env', 'PYTHONUTF8', '--env', 'MAZE_KEY', '--env', 'PATH=/opt/maze/bin', '--env', 'PYTHONPATH',
      '--env', 'AGENTCANVAS_HANDSHAKE=/agentcanvas/door/handshake',
      '--entrypoint', 'python3',
      'maze:1',
      '-m', 'agentcanvas_host', '--file', '/ws/nodesets/maze/maze.py', '--class', 'Maze',
    ]); // prettier-ignore
  });

  it('never shows a value of the nodeset in the list of processes', () => {
    expect(runArguments(start).join(' ')).not.toContain('secret');
  });

  it('is refused for a mount that is no folder', () => {
    expect(() => runArguments({ ...start, needs: { image: 'maze:1', mounts: ['data:/data'] } })).toThrow(
      'server_mounts of "maze"',
    );
  });

  it('takes only a port on loopback', () => {
    expect(publishedAddress(['0.0.0.0:4000', '127.0.0.1:49153'])).toBe('tcp:127.0.0.1:49153');
    expect(() => publishedAddress(['0.0.0.0:4000'])).toThrow('no port on 127.0.0.1');
  });
});

describe.skipIf(!hasPython)('a nodeset with an image', () => {
  it('is described and run in containers, and nothing of them is left', async () => {
    await using registry = await withCrate();
    expect(registry.list()).toMatchObject([{ name: 'crate', state: 'found', nodeTypes: ['crate__count'] }]);
    await using session = await registry.ensureNodesetsForGraph(['crate'], { replicaCount: 2 });
    const [first, second] = session.initial;
    const answers = [await count(first, 'hello'), await count(second, 'hey')];
    expect(answers).toMatchObject([
      { count: 5, given: 'hello, crate' },
      { count: 3, given: 'hello, crate' },
    ]);
    expect(answers[0]?.['pid']).not.toBe(answers[1]?.['pid']);
    await session[Symbol.asyncDispose]();
    const runs = (await calls()).filter(({ args }) => args[0] === 'run');
    expect(runs).toHaveLength(3);
    for (const { args, env } of runs) {
      expect(args).toEqual(
        expect.arrayContaining(['--rm', '127.0.0.1::47100', 'registry.invalid/crate:1', '--gpus']),
      );
      expect(args.join(' ')).not.toContain(env['AGENTCANVAS_NONCE'] ?? 'no nonce');
    }
    expect(await readdir(path.join(folder, 'records'))).toEqual([]);
    expect(await readdir(path.join(folder, 'running'))).not.toContainEqual(expect.stringMatching(/json$/));
  }, 60_000);

  it('that dies is told with its exit code, and a hanging one is removed with its container', async () => {
    await using registry = await withCrate();
    await using session = await registry.ensureNodesetsForGraph(['crate'], { replicaCount: 2 });
    const [first, second] = session.initial;
    await expect(count(first, 'die')).rejects.toMatchObject({ code: 'process_died' });
    expect(await first?.death).toMatchObject({ instance: 'crate#0', exitCode: 7, expected: false });
    const again = await session.startReplicaSet(0);
    expect(await count(again, 'back')).toMatchObject({ count: 4 });
    const { pid } = await count(second, 'pid');
    void count(second, 'hang').catch(() => undefined);
    await second?.kill();
    const left = readEntry(Number(pid));
    expect(left !== undefined && isRunning(left)).toBe(false);
    expect((await calls()).filter(({ args }) => args[0] === 'rm').length).toBeGreaterThan(0);
  }, 60_000);

  it('leaves containers of a killed engine to the next start, and those of a living one alone', async () => {
    await withCrate();
    const records = path.join(folder, 'records');
    await mkdir(records, { recursive: true });
    const id = 'ab'.repeat(32);
    const [kind, boot, namespace] = test.processes.ownerMarker.split('-');
    const dead = `${kind}-${boot}-${namespace}-999999-1-deadbeef-1`;
    await writeFile(path.join(records, `${dead}.cid`), id);
    await writeFile(path.join(records, `${test.processes.ownerMarker}-9.cid`), 'cd'.repeat(32));
    expect(await spawner.sweepLeftBehind()).toBe(1);
    const removed = (await calls()).filter(({ args }) => args[0] === 'rm').map(({ args }) => args.at(-1));
    expect(removed).toContain(id);
    expect(removed).not.toContain('cd'.repeat(32));
    expect(await readdir(records)).toEqual([`${test.processes.ownerMarker}-9.cid`]);
  }, 30_000);

  it('is checked before a start: program, daemon, image', async () => {
    await using registry = await withCrate();
    expect(await registry.placeChecks(['crate', 'unknown'])).toMatchObject([
      { nodeset: 'crate', place: 'docker', ok: true, output: expect.stringContaining('image') as string },
    ]);
    expect(await registry.placeChecks(['crate'], 'local')).toEqual([]);
    await writeFile(path.join(folder, 'no-image'), '');
    expect(await registry.placeChecks(['crate'])).toMatchObject([
      { ok: false, warning: true, fix: expect.stringContaining('docker pull') as string },
    ]);
    await rm(docker);
    expect(await registry.placeChecks(['crate'])).toMatchObject([
      { ok: false, warning: false, output: expect.stringContaining('is not on PATH') as string },
    ]);
  }, 30_000);

  it('says what is missing where there is no Docker', async () => {
    docker = 'no-docker-here';
    await using registry = await withCrate();
    expect(registry.list()).toMatchObject([
      { state: 'failed', error: expect.stringContaining('"no-docker-here" is not on PATH') as string },
    ]);
  }, 30_000);
});
