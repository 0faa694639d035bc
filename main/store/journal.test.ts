// The journal: durable before it resolves, shared fsyncs, torn tails, damage, and failing disks.
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atomicWrite } from './atomic-write.ts';
import { decodeLine, encodeLine } from './journal-lines.ts';
import { Journal, scanJournal, type JournalScan } from './journal.ts';
import { nodeFileSystem } from './node-file-system.ts';
import type { FileSystemPort } from './ports.ts';
import { createFaultyFileSystem, type FaultyOperation } from './testing/faulty-file-system.ts';
import { temporaryFolder } from './testing/sample-store.ts';

interface Opened {
  readonly journal: Journal;
  readonly scan: JournalScan;
  readonly values: unknown[];
}

async function open(path: string, fileSystem: FileSystemPort = nodeFileSystem): Promise<Opened> {
  const values: unknown[] = [];
  const opened = await Journal.open({ fileSystem, path }, (value) => void values.push(value));
  return { ...opened, values };
}

async function valuesIn(path: string): Promise<unknown[]> {
  const values: unknown[] = [];
  await scanJournal(nodeFileSystem, path, (value) => void values.push(value));
  return values;
}

const text = (values: readonly object[]): string => values.map(encodeLine).join('');

describe('journal lines', () => {
  it('are JSON with a checksum in front, and read back as they were', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (value) => {
        const line = encodeLine({ n: 1, ...value });
        expect(JSON.parse(line)).toMatchObject({ crc: expect.stringMatching(/^[0-9a-f]{8}$/) });
        expect(decodeLine(line.trimEnd())).toEqual({
          ok: true,
          value: JSON.parse(JSON.stringify({ n: 1, ...value })),
        });
      }),
      { seed: 1 },
    );
  });

  it('never decode to anything else when a character is changed', () => {
    const line = encodeLine({ ordinal: 3, name: 'abc', list: [1, 2.5, null] }).trimEnd();
    const change = fc.tuple(fc.nat(line.length - 1), fc.string({ minLength: 1, maxLength: 1 }));
    fc.assert(
      fc.property(change, ([at, character]) => {
        const changed = line.slice(0, at) + character + line.slice(at + 1);
        expect(decodeLine(changed).ok).toBe(changed === line);
      }),
      { seed: 2, numRuns: 500 },
    );
  });
});

describe('journal', () => {
  it('shares commits among concurrent appends and keeps their order', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'j.jsonl');
    await writeFile(path, '');
    const { journal } = await open(path);
    await Promise.all(Array.from({ length: 200 }, (_, n) => journal.append({ n })));
    expect(journal.commits).toBeLessThan(10);
    await journal[Symbol.asyncDispose]();
    expect(await valuesIn(path)).toEqual(Array.from({ length: 200 }, (_, n) => ({ n })));
  });

  it('has every line on file when its append resolves, also for appends made at that very moment', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'j.jsonl');
    await writeFile(path, '');
    const { journal } = await open(path);
    await Promise.all(
      Array.from({ length: 4 }, async (_, worker) => {
        for (let n = 0; n < 25; n++) {
          await journal.append({ worker, n });
          expect(await readFile(path, 'utf8')).toContain(`"worker":${worker},"n":${n}}`);
        }
      }),
    );
    await journal[Symbol.asyncDispose]();
    expect(await valuesIn(path)).toHaveLength(100);
  });

  it('cut anywhere, opens with exactly the whole lines, reports the rest and goes on', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'j.jsonl');
    const rows = Array.from({ length: 5 }, (_, n) => ({ n, word: 'ünï "çode" ✓' }));
    const whole = Buffer.from(text(rows));
    for (let cut = 0; cut <= whole.length; cut += 3) {
      await writeFile(path, whole.subarray(0, cut));
      const { journal, scan, values } = await open(path);
      const complete = rows.filter((_, i) => Buffer.byteLength(text(rows.slice(0, i + 1))) - 1 <= cut);
      expect(values).toEqual(complete);
      expect(scan.wholeBytes + scan.tornBytes).toBe(cut);
      await journal.append({ n: 99 });
      await journal[Symbol.asyncDispose]();
      expect(await valuesIn(path)).toEqual([...complete, { n: 99 }]);
    }
  });

  it('keeps a torn tail beside the file', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'j.jsonl');
    await writeFile(path, `${text([{ n: 1 }])}{"crc":"0000`);
    const { journal, scan } = await open(path);
    await journal[Symbol.asyncDispose]();
    expect(scan.tornBytes).toBe(12);
    expect(await readFile(`${path}.torn`, 'utf8')).toBe('{"crc":"0000\n');
  });

  it('reports damage in the middle by line, keeps it in the file, and reads what comes after', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'j.jsonl');
    const damaged = encodeLine({ n: 2 }).replace('"n":2', '"n":3');
    await writeFile(path, `${text([{ n: 1 }])}${damaged}rubbish\n${text([{ n: 4 }])}`);
    const { journal, scan, values } = await open(path);
    await journal[Symbol.asyncDispose]();
    expect(values).toEqual([{ n: 1 }, { n: 4 }]);
    expect(scan.corruptLines).toEqual([
      { line: 2, reason: 'checksum is wrong' },
      { line: 3, reason: 'not a line of a journal' },
    ]);
    expect(await readFile(path, 'utf8')).toContain('rubbish');
  });

  it('reads files of many chunks line by line', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'j.jsonl');
    await writeFile(path, '');
    for (let part = 0; part < 5; part++) {
      await appendFile(
        path,
        text(Array.from({ length: 400 }, (_, n) => ({ n: part * 400 + n, long: 'y'.repeat(n * 3) }))),
      );
    }
    expect((await valuesIn(path)).length).toBe(2000);
  });

  it.each<[FaultyOperation, string, string]>([
    ['write', 'ENOSPC', 'disk_full'],
    ['sync', 'ENOSPC', 'disk_full'],
    ['sync', 'EIO', 'io_failed'],
  ])(
    'refuses a line when %s fails with %s, takes it back, and goes on',
    async (operation, code, expected) => {
      await using folder = await temporaryFolder();
      const path = join(folder.path, 'j.jsonl');
      await writeFile(path, '');
      let failing = false;
      const fileSystem = createFaultyFileSystem(nodeFileSystem, {
        shouldFail: (called) => (failing && called === operation ? code : undefined),
      });
      const { journal } = await open(path, fileSystem);
      await journal.append({ n: 1 });
      failing = true;
      await expect(journal.append({ n: 2 })).rejects.toMatchObject({ code: expected });
      await expect(journal.append({ n: 3 })).rejects.toMatchObject({ code: expected });
      failing = false;
      await journal.append({ n: 4 });
      await journal[Symbol.asyncDispose]();
      expect(await valuesIn(path)).toEqual([{ n: 1 }, { n: 4 }]);
    },
  );

  it('writes nothing more until a failed line is cut off again', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'j.jsonl');
    await writeFile(path, '');
    let failing: FaultyOperation[] = [];
    const fileSystem = createFaultyFileSystem(nodeFileSystem, {
      shouldFail: (called) => (failing.includes(called) ? 'EIO' : undefined),
    });
    const { journal } = await open(path, fileSystem);
    failing = ['write', 'truncate'];
    await expect(journal.append({ n: 1 })).rejects.toMatchObject({ code: 'io_failed' });
    failing = ['truncate'];
    await expect(journal.append({ n: 2 })).rejects.toMatchObject({ code: 'io_failed' });
    failing = [];
    await journal.append({ n: 3 });
    await journal[Symbol.asyncDispose]();
    expect(await readFile(path, 'utf8')).toBe(encodeLine({ n: 3 }));
  });

  it('refuses appends after it was closed', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'j.jsonl');
    await writeFile(path, '');
    const { journal } = await open(path);
    const last = journal.append({ n: 1 });
    await journal[Symbol.asyncDispose]();
    await last;
    await expect(journal.append({ n: 2 })).rejects.toThrow('closed');
    await truncate(path, 0);
  });
});

describe('atomicWrite', () => {
  it('leaves the old content and no temporary file when any step fails', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'a.json');
    await writeFile(path, 'old');
    for (const operation of ['open', 'write', 'sync', 'close', 'rename'] as const) {
      const fileSystem = createFaultyFileSystem(nodeFileSystem, {
        shouldFail: (called) => (called === operation ? 'ENOSPC' : undefined),
      });
      await expect(atomicWrite(fileSystem, path, 'new')).rejects.toMatchObject({ code: 'disk_full' });
      expect(await readFile(path, 'utf8')).toBe('old');
      expect(await nodeFileSystem.listFolder(folder.path)).toHaveLength(1);
    }
    await atomicWrite(nodeFileSystem, path, 'new');
    expect(await readFile(path, 'utf8')).toBe('new');
  });
});
