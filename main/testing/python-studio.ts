// A studio of its own over one Python environment of the tests: its workspace in a folder with a space, its home, the
// requests it answers, and the processes that carry its mark.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { RequestInput, RequestName, RequestOutput } from '../contract/api.ts';
import { localTransport } from '../hosts/engine.ts';
import { pythonInterpreter } from '../nodeset/testing/test-registry.ts';
import { createStudio, type Studio } from '../studio.ts';

/** Answers to a request; throws the refusal. */
export async function askStudio<Name extends RequestName>(
  studio: Studio,
  name: Name,
  input: RequestInput<Name>,
): Promise<RequestOutput<Name>> {
  const reply = await localTransport(studio).request(name, input);
  if (!reply.ok) throw new Error(`${name}: ${reply.error.message}`);
  return reply.value;
}

/** Processes with the mark in their environment: the nodeset's, and whatever they started. Zombies are not alive. */
export async function markedProcesses(mark: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      try {
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
        const state = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '')[0];
        return environment.includes(mark) && state !== 'Z' ? [Number(pid)] : [];
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}

export interface PythonStudio extends AsyncDisposable {
  readonly studio: Studio;
  readonly workspace: string;
}

/**
 * The nodeset `<name>-nodeset.py` beside this file with `@MARK@` replaced, and a graph `<name>` of its start, step and
 * score. `setHome` is told where the studio's home must be before it opens.
 */
export async function openPythonStudio(
  name: string,
  mark: string,
  setHome: (home: string) => void,
): Promise<PythonStudio> {
  const root = await mkdtemp(path.join(os.tmpdir(), `${name} ☂ `));
  setHome(path.join(root, 'home'));
  const workspace = path.join(root, 'workspace');
  await mkdir(path.join(workspace, 'nodesets'), { recursive: true });
  await mkdir(path.join(workspace, 'graphs'));
  const text = await readFile(path.join(import.meta.dirname, `${name}-nodeset.py`), 'utf8');
  await writeFile(path.join(workspace, `nodesets/${name}.py`), text.replace('@MARK@', mark));
  await writeFile(path.join(workspace, `graphs/${name}.json`), await graphOf(name));
  const studio = await createStudio({ host: 'cli', workspace, trust: [workspace] });
  const { settings } = await askStudio(studio, 'settings.get', {});
  await askStudio(studio, 'settings.set', { settings: { ...settings, python: pythonInterpreter() } });
  const { nodesets } = await askStudio(studio, 'nodesets.rescan', {});
  const problem = nodesets.find((nodeset) => nodeset.name === name)?.error;
  if (problem !== undefined) throw new Error(problem);
  return {
    studio,
    workspace,
    async [Symbol.asyncDispose]() {
      await studio[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function graphOf(name: string): Promise<string> {
  const graph = await readFile(path.join(import.meta.dirname, '../eval/testing/graphs/fragile.json'), 'utf8');
  return graph
    .replaceAll('fragile__observe', `${name}__start`)
    .replaceAll('fragile__step', `${name}__step`)
    .replaceAll('fragile__evaluate', `${name}__score`)
    .replaceAll('"position"', '"count"')
    .replaceAll('_position"', '_count"')
    .replaceAll('"count": {', '"position": {')
    .replaceAll('"fragile"', `"${name}"`);
}
