import { describe, expect, it } from 'vitest';
import { nodesetSummary, type NodesetEnvironment, type NodesetSummary } from '#contract/nodeset.ts';
import { memoryOf, shortInterpreter, sorted, stateOf } from './nodeset-words.ts';

function nodeset(change: Partial<NodesetSummary> = {}): NodesetSummary {
  return nodesetSummary.parse({
    name: 'env',
    source: '/w/env.py',
    origin: 'workspace',
    language: 'python',
    parallelism: 'replicated',
    state: 'found',
    ...change,
  });
}

const environment: NodesetEnvironment = {
  state: 'missing',
  requirements: ['numpy'],
  requiresPython: '',
  command: 'build',
};

describe('a nodeset in words', () => {
  it('says first what a person has to do', () => {
    expect(stateOf(nodeset({ state: 'failed', environment }))).toEqual({
      glyph: 'interrupted',
      word: 'environment missing',
    });
    expect(
      stateOf(
        nodeset({ state: 'failed', environment: { ...environment, state: 'building', stage: 'installing' } }),
      ).word,
    ).toBe('building: installing');
    expect(stateOf(nodeset({ state: 'loading', stage: 'importing' })).word).toBe('importing');
  });

  it('shows the part of an interpreter’s path that tells it apart', () => {
    expect(shortInterpreter(nodeset({ interpreterPath: '/home/me/envs/sim/bin/python3' }))).toBe(
      'sim/bin/python3',
    );
    expect(shortInterpreter(nodeset({ interpreterPath: 'C:\\envs\\sim\\Scripts\\python.exe' }))).toBe(
      'sim/Scripts/python.exe',
    );
    expect(shortInterpreter(nodeset({ interpreterPath: '/usr/bin/python3' }))).toBe('/usr/bin/python3');
    expect(shortInterpreter(nodeset({ interpreter: 'conda:sim' }))).toBe('conda:sim');
    expect(shortInterpreter(nodeset())).toBe('–');
    const built: NodesetEnvironment = { ...environment, state: 'ready', folder: '/e/8f0a' };
    expect(shortInterpreter(nodeset({ interpreterPath: '/e/8f0a/bin/python', environment: built }))).toBe(
      'own environment',
    );
    expect(shortInterpreter(nodeset({ language: 'typescript' }))).toBe('TypeScript');
  });

  it('adds the memory of its processes, and says nothing when none is known', () => {
    const process = { name: 'env#0', pid: 1, rssBytes: 10, silentSinceMs: 0 };
    expect(memoryOf(nodeset({ processes: [process, { ...process, rssBytes: 5 }] }))).toBe(15);
    expect(memoryOf(nodeset({ processes: [{ ...process, rssBytes: null }] }))).toBeNull();
  });

  it('sorts by any column, by name where they are equal', () => {
    const all = [nodeset({ name: 'b' }), nodeset({ name: 'a' }), nodeset({ name: 'c', state: 'loaded' })];
    const names = (column: string, descending: boolean): string =>
      sorted(all, [{ column, descending }])
        .map(({ name }) => name)
        .join('');
    expect(names('name', true)).toBe('cba');
    expect(names('state', false)).toBe('cab');
    expect(names('nothing', false)).toBe('bac');
  });
});
