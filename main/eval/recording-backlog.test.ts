// One turn per episode, however many ask; nothing waits for ever.
import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import { silentLogger } from '../base/logger.ts';
import type { BulkWork } from '../store/bulk-work.ts';
import { nodeFileSystem } from '../store/node-file-system.ts';
import { RecordingBacklog } from './recording-backlog.ts';

interface Turn {
  readonly folder: string;
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

function openBacklog() {
  const turns: Turn[] = [];
  const scratches = new Set<string>();
  const run = (_name: string, { episodeFolder }: { readonly episodeFolder: string }): Promise<number> => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    turns.push({
      folder: episodeFolder,
      end: () => (scratches.delete(episodeFolder), resolve(1)),
      fail: reject,
    });
    return promise;
  };
  const fileSystem = {
    ...nodeFileSystem,
    listFolder: (folder: string) =>
      Promise.resolve(scratches.has(folder) ? [{ name: 'scratch_1_1', isFolder: true }] : []),
  };
  // Only `finishRecordings` is ever asked for.
  const bulk = { run: run as unknown as BulkWork['run'] };
  return { turns, scratches, backlog: new RecordingBacklog({ fileSystem, bulk, logger: silentLogger }) };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('recordings that wait to be put in order', () => {
  it('are never put in order twice at once, whoever asks', async () => {
    const { turns, scratches, backlog } = openBacklog();
    scratches.add('episode');
    const asked = [backlog.add('episode'), backlog.inOrder('episode'), backlog.inOrder('episode')];
    await settle();
    expect(turns.map(({ folder }) => folder)).toEqual(['episode']);
    turns[0]!.end();
    await Promise.all(asked);
    expect(turns).toHaveLength(1);
  });

  it('of two who find the same one left behind, take turns', async () => {
    const { turns, scratches, backlog } = openBacklog();
    scratches.add('episode');
    const asked = Promise.all([backlog.inOrder('episode'), backlog.inOrder('episode')]);
    await settle();
    expect(turns).toHaveLength(1);
    turns[0]!.end();
    await settle();
    // The other looks once more and finds nothing left to do.
    turns[1]?.end();
    await asked;
  });

  it('of different episodes do not wait for each other', async () => {
    const { turns, scratches, backlog } = openBacklog();
    for (const folder of ['one', 'two']) scratches.add(folder);
    const both = Promise.all([backlog.inOrder('one'), backlog.inOrder('two')]);
    await settle();
    expect(turns.map(({ folder }) => folder)).toEqual(['one', 'two']);
    for (const { end } of turns) end();
    await both;
  });

  it('that cannot be put in order tell the reader why, and the next reader tries again', async () => {
    const { turns, scratches, backlog } = openBacklog();
    scratches.add('episode');
    const first = backlog.inOrder('episode');
    await settle();
    turns[0]!.fail(new StudioError('disk_full', 'full'));
    await expect(first).rejects.toThrow('full');
    const second = backlog.inOrder('episode');
    await settle();
    turns[1]!.end();
    await second;
    await backlog.settled();
  });

  it('make the next episode wait when more than eight of them do', async () => {
    const { turns, backlog } = openBacklog();
    for (let at = 0; at < 8; at++) await backlog.add(`episode ${at}`);
    let isAdded = false;
    const ninth = backlog.add('episode 8').then(() => (isAdded = true));
    await settle();
    expect(isAdded).toBe(false);
    turns[3]!.end();
    await ninth;
    for (const { end } of turns) end();
    await backlog.settled();
  });

  it('cost nothing to ask for when there are none', async () => {
    const { turns, backlog } = openBacklog();
    await backlog.inOrder('episode');
    expect(turns).toEqual([]);
  });
});
