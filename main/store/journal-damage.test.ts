// The journal on a disk in memory: every call it makes is seen, and any may fail.
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { silentLogger, type Logger } from '../base/logger.ts';
import { createRandom } from '../base/random.ts';
import { decodeLine, encodeLine, readLines, type RawLine } from './journal-lines.ts';
import { Journal, readJournal, scanJournal } from './journal.ts';
import type { FileHandlePort, FileSystemPort } from './ports.ts';
import { MemoryDisk, systemError, type DiskOperation } from './testing/memory-disk.ts';

const path = '/d/episodes.jsonl';

interface Bench {
  readonly fileSystem: FileSystemPort;
  readonly disk: MemoryDisk;
  readonly calls: string[];
  /** Operations that fail from now on. */
  failing: readonly DiskOperation[];
  readonly content: () => string;
}

function bench(content = ''): Bench {
  const disk = new MemoryDisk({ now: () => 0 });
  disk.addFolder('/d');
  const calls: string[] = [];
  const made: Bench = {
    disk,
    calls,
    failing: [],
    content: () => String(disk.read(path)),
    fileSystem: disk.port(async (operation, where, perform) => {
      calls.push(where === path ? operation : `${operation} ${where}`);
      if (made.failing.includes(operation)) throw systemError('EIO', where);
      return perform();
    }),
  };
  disk.create(path, Buffer.from(content));
  return made;
}

const lines = (...values: readonly object[]): string => values.map(encodeLine).join('');

async function rawLines(handle: Pick<FileHandlePort, 'read'>, fromByte?: number): Promise<RawLine[][]> {
  const batches: RawLine[][] = [];
  for await (const batch of readLines(handle as FileHandlePort, fromByte)) batches.push([...batch]);
  return batches;
}

const reading = (text: string): Pick<FileHandlePort, 'read'> => ({
  read: async (target, position) => {
    const part = Buffer.from(text).subarray(position, position + target.length);
    target.set(part);
    return part.length;
  },
});

describe('a line', () => {
  it('needs a member', () => {
    expect(() => encodeLine({})).toThrow(
      expect.objectContaining({ code: 'internal', message: 'a journal line needs at least one member' }),
    );
  });

  it('has a checksum of eight digits, whatever it begins with', () => {
    for (let n = 0; n < 300; n++)
      expect(decodeLine(encodeLine({ n }).trimEnd())).toEqual({ ok: true, value: { n } });
  });

  it('with a right checksum over something else than JSON is refused', () => {
    const body = '{x}';
    const checksum = crc32(body).toString(16).padStart(8, '0');
    expect(decodeLine(`{"crc":"${checksum}",x}`)).toEqual({ ok: false, reason: 'not JSON' });
  });
});

describe('lines that were written and never synced', () => {
  const written = async ({ fileSystem }: Bench): Promise<void> => {
    const handle = await fileSystem.open(path, 'append');
    await handle.write(Buffer.from(lines({ n: 1 }, { n: 2 })));
    await handle.close();
  };
  /** What every power failure leaves. */
  const onDevice = ({ disk }: Bench): string => {
    disk.losePower(createRandom(1));
    return String(disk.read(path));
  };

  it('are on the device once the journal is open', async () => {
    const it = bench();
    await written(it);
    const { scan } = await Journal.open({ fileSystem: it.fileSystem, path }, () => undefined);
    expect(scan.lines).toBe(2);
    expect(onDevice(it)).toBe(lines({ n: 1 }, { n: 2 }));
  });

  it('are written anew, beside the file, when the device refuses them', async () => {
    const it = bench();
    await written(it);
    let refusals = 1;
    const fileSystem: FileSystemPort = {
      ...it.fileSystem,
      async open(file, mode) {
        const handle = await it.fileSystem.open(file, mode);
        const sync = (): Promise<void> =>
          file === path && refusals-- > 0 ? Promise.reject(systemError('EIO', file)) : handle.sync();
        return { ...handle, sync };
      },
    };
    const said: unknown[] = [];
    const logger = { ...silentLogger, warn: (...words: unknown[]) => void said.push(words) };
    const { journal, scan } = await Journal.open({ fileSystem, path, logger }, () => undefined);
    await journal.append({ n: 3 });
    expect(said).toEqual([
      [expect.stringMatching(/written anew/), { path, reason: expect.stringContaining('EIO') as string }],
    ]);
    expect(scan.lines).toBe(2);
    expect(onDevice(it)).toBe(lines({ n: 1 }, { n: 2 }, { n: 3 }));
    expect(it.disk.names('/d')).toEqual(['episodes.jsonl']);
  });

  it('keep the journal closed when they cannot be written at all', async () => {
    const it = bench();
    await written(it);
    it.failing = ['sync'];
    await expect(Journal.open({ fileSystem: it.fileSystem, path }, () => undefined)).rejects.toMatchObject({
      code: 'io_failed',
    });
    expect(it.content()).toBe(lines({ n: 1 }, { n: 2 }));
  });
});

describe('reading lines', () => {
  it('counts empty ones without giving them, and marks what no newline follows', async () => {
    expect(await rawLines(reading('a\n\nb\nc'))).toEqual([
      [
        { number: 1, text: 'a', endByte: 2, terminated: true },
        { number: 3, text: 'b', endByte: 5, terminated: true },
      ],
      [{ number: 4, text: 'c', endByte: 6, terminated: false }],
    ]);
  });

  it('gives nothing for nothing, and no rest after a last newline', async () => {
    expect(await rawLines(reading(''))).toEqual([]);
    expect(await rawLines(reading('\n'))).toEqual([]);
    expect(await rawLines(reading('a\n'))).toHaveLength(1);
    expect(await rawLines(reading('a\nbc\n'), 2)).toEqual([
      [{ number: 1, text: 'bc', endByte: 5, terminated: true }],
    ]);
  });

  it('takes nothing for content that lies behind what was read', async () => {
    const { read } = reading('a\nb');
    const batches = await rawLines({
      read: async (target, position) => {
        const length = await read(target, position);
        target.fill(10, length);
        return length;
      },
    });
    expect(batches).toEqual([
      [{ number: 1, text: 'a', endByte: 2, terminated: true }],
      [{ number: 2, text: 'b', endByte: 3, terminated: false }],
    ]);
  });

  it('refuses a line of more than 64 MB, and reads one of just that', async () => {
    const endless = (until: number): Pick<FileHandlePort, 'read'> => ({
      read: async (target, position) => {
        const length = Math.max(0, Math.min(target.length, until - position));
        target.fill(120, 0, length);
        if (position === 0) target[1] = 10;
        return length;
      },
    });
    await expect(rawLines(endless(Number.POSITIVE_INFINITY))).rejects.toMatchObject({
      code: 'corrupt',
      message: 'line 2 has no end',
    });
    const [, last] = await rawLines(endless((64 << 20) + 2));
    expect([last?.[0]?.number, last?.[0]?.text.length]).toEqual([2, 64 << 20]);
  });
});

describe('damage', () => {
  it('is reported by line, and what comes after is read', async () => {
    const wrong = encodeLine({ n: 2 }).replace('"n":2', '"n":3');
    const { fileSystem } = bench(lines({ n: 1 }) + wrong + 'rubbish\n' + lines({ n: 4 }));
    const scan = await scanJournal(fileSystem, path, (value) =>
      JSON.stringify(value).includes('4') ? 'refused' : undefined,
    );
    expect(scan.corruptLines).toEqual([
      { line: 2, reason: 'checksum is wrong' },
      { line: 3, reason: 'not a line of a journal' },
      { line: 4, reason: 'refused' },
    ]);
    expect(decodeLine('{"crc":"00000000"}')).toEqual({ ok: false, reason: 'not a line of a journal' });
    expect(decodeLine('')).toEqual({ ok: false, reason: 'not a line of a journal' });
  });

  it('at the end is kept aside as it is', async () => {
    const made = bench(lines({ n: 1 }) + 'ab"c');
    const { journal, scan } = await Journal.open({ fileSystem: made.fileSystem, path }, () => undefined);
    expect([scan.tornBytes, scan.wholeBytes, journal.durableBytes]).toEqual([
      4,
      lines({ n: 1 }).length,
      lines({ n: 1 }).length,
    ]);
    expect([made.content(), String(made.disk.read(`${path}.torn`))]).toEqual([lines({ n: 1 }), 'ab"c\n']);
    expect(made.calls).toContain('truncate');
    expect(made.calls.at(-1)).toBe('sync');
  });
});

describe('lines longer than a chunk', () => {
  it('are put together from several reads', async () => {
    const long = { text: 'ü'.repeat(400_000) };
    const { fileSystem } = bench(lines({ n: 1 }, long, { n: 3 }));
    const seen: unknown[] = [];
    await scanJournal(fileSystem, path, (value) => void seen.push(value));
    expect(seen).toEqual([{ n: 1 }, long, { n: 3 }]);
  });
});

describe('scanning', () => {
  it('opens for reading, closes, and says how many lines there are', async () => {
    const { fileSystem, calls } = bench(lines({ n: 1 }, { n: 2 }));
    const seen: unknown[] = [];
    const scan = await scanJournal(fileSystem, path, (value) => void seen.push(value));
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
    expect(scan).toMatchObject({ lines: 2, tornBytes: 0, needsNewline: false, corruptLines: [] });
    expect([calls[0], calls.at(-1)]).toEqual(['open', 'close']);
    await expect(scanJournal(fileSystem, '/d/absent', () => undefined)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('Could not open /d/absent'),
    });
    expect(bench().disk.names('/d')).toEqual(['episodes.jsonl']);
  });

  it('that cannot go on says so, and closes', async () => {
    const made = bench(lines({ n: 1 }));
    made.failing = ['read'];
    await expect(scanJournal(made.fileSystem, path, () => undefined)).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringContaining(`Could not read ${path}`),
    });
    expect(made.calls.at(-1)).toBe('close');
  });

  it('gives readers the sound lines from a position on, with where to go on', async () => {
    const text = lines({ n: 1 }) + 'rubbish\n' + lines({ n: 2 });
    const { fileSystem, calls } = bench(text);
    const found: unknown[] = [];
    for await (const entry of readJournal(fileSystem, path)) found.push(entry);
    const first = lines({ n: 1 }).length;
    expect(found).toEqual([
      { value: { n: 1 }, endByte: first },
      { value: { n: 2 }, endByte: text.length },
    ]);
    for await (const entry of readJournal(fileSystem, path, first)) expect(entry.value).toEqual({ n: 2 });
    expect(calls.filter((call) => call === 'open' || call === 'close')).toEqual([
      'open',
      'close',
      'open',
      'close',
    ]);
  });
});

describe('opening', () => {
  const open = (made: Bench, logger: Logger = silentLogger): ReturnType<typeof Journal.open> =>
    Journal.open({ fileSystem: made.fileSystem, path, logger }, () => undefined);

  it('finishes a sound last line that lacks its newline, on the device', async () => {
    const made = bench(lines({ n: 1 }).trimEnd());
    const { journal, scan } = await open(made);
    expect(scan).toMatchObject({ lines: 1, tornBytes: 0, needsNewline: true });
    expect(made.calls.slice(-2)).toEqual(['write', 'sync']);
    expect(made.content()).toBe(lines({ n: 1 }));
    expect(journal.durableBytes).toBe(lines({ n: 1 }).length);
    await journal.append({ n: 2 });
    expect(made.content()).toBe(lines({ n: 1 }, { n: 2 }));
  });

  it('leaves a whole file as it is', async () => {
    const made = bench(lines({ n: 1 }));
    const { journal, scan } = await open(made);
    expect([scan.needsNewline, journal.durableBytes]).toEqual([false, made.content().length]);
    expect(made.calls).not.toContain('write');
    expect(made.calls).not.toContain('truncate');
    expect(made.disk.names('/d')).toEqual(['episodes.jsonl']);
  });

  it('says what it dropped, also when that could not be kept aside', async () => {
    const told: unknown[] = [];
    const logger: Logger = { ...silentLogger, warn: (message, facts) => void told.push([message, facts]) };
    await open(bench(lines({ n: 1 }) + 'abc'), logger);
    const made = bench(lines({ n: 1 }) + 'abc');
    const fileSystem: FileSystemPort = {
      ...made.fileSystem,
      open: (where, mode) =>
        where === path ? made.fileSystem.open(where, mode) : Promise.reject(systemError('ENOSPC', where)),
    };
    await Journal.open({ fileSystem, path, logger }, () => undefined);
    const dropped = ['dropped an unfinished line at the end of a journal', { path, bytes: 3 }];
    expect(told).toEqual([
      dropped,
      ['torn tail could not be kept aside', { path, bytes: 3, reason: `ENOSPC: ${path}.torn` }],
      dropped,
    ]);
    expect(made.content()).toBe(lines({ n: 1 }));
  });

  it('that cannot mend the end says so, and closes', async () => {
    const made = bench(lines({ n: 1 }) + 'abc');
    made.failing = ['truncate'];
    await expect(open(made)).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringContaining(`Could not repair ${path}`),
    });
    expect(made.calls.at(-1)).toBe('close');
  });
});

describe('appending', () => {
  it('counts commits, cuts a failed one off at once through a new handle, and closes once', async () => {
    const made = bench();
    const { journal } = await Journal.open({ fileSystem: made.fileSystem, path }, () => undefined);
    await journal.append({ n: 1 });
    expect(journal.commits).toBe(1);
    made.failing = ['sync'];
    made.calls.length = 0;
    await expect(journal.append({ n: 2 })).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringContaining(`Could not append to ${path}`),
    });
    expect(made.calls).toEqual(['write', 'sync', 'truncate', 'close', 'open', 'truncate', 'sync']);
    made.failing = [];
    made.calls.length = 0;
    await journal.append({ n: 3 });
    expect(made.calls.slice(0, 5)).toEqual(['truncate', 'close', 'open', 'truncate', 'sync']);
    made.calls.length = 0;
    await journal.append({ n: 4 });
    expect(made.calls).toEqual(['write', 'sync']);
    expect(made.content()).toBe(lines({ n: 1 }, { n: 3 }, { n: 4 }));
    await journal[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
    expect(made.calls.filter((call) => call === 'close')).toHaveLength(1);
    await expect(journal.append({ n: 5 })).rejects.toMatchObject({
      code: 'internal',
      message: 'the journal is closed',
    });
  });

  it('gathers what is asked for at once, in order, and waits for it when it is closed', async () => {
    const made = bench();
    const { journal } = await Journal.open({ fileSystem: made.fileSystem, path }, () => undefined);
    const values = Array.from({ length: 20 }, (_item, n) => ({ n }));
    const all = values.map((value) => journal.append(value));
    await journal[Symbol.asyncDispose]();
    await Promise.all(all);
    expect([journal.commits, made.content()]).toEqual([1, lines(...values)]);
    expect(journal.durableBytes).toBe(made.content().length);
  });

  it('closes the file only when what was appended is in it', async () => {
    const made = bench();
    const { journal } = await Journal.open({ fileSystem: made.fileSystem, path }, () => undefined);
    made.calls.length = 0;
    const append = journal.append({ n: 1 });
    await journal[Symbol.asyncDispose]();
    await append;
    expect(made.calls).toEqual(['write', 'sync', 'close']);
  });

  it('opens for appending what it writes to, and for reading what it only reads', async () => {
    const made = bench(lines({ n: 1 }) + 'abc');
    const opened: string[] = [];
    const fileSystem: FileSystemPort = {
      ...made.fileSystem,
      open(where, mode) {
        opened.push(`${mode} ${where}`);
        return made.fileSystem.open(where, mode);
      },
    };
    for await (const entry of readJournal(fileSystem, path)) expect(entry.value).toEqual({ n: 1 });
    const { journal } = await Journal.open({ fileSystem, path }, () => undefined);
    made.failing = ['write'];
    await expect(journal.append({ n: 2 })).rejects.toMatchObject({ code: 'io_failed' });
    expect(opened).toEqual([
      `read ${path}`,
      `read ${path}`,
      `append ${path}`,
      `append ${path}.torn`,
      `append ${path}`,
    ]);
  });

  it('refuses everybody whose commit failed, and commits what came meanwhile', async () => {
    const made = bench();
    const { journal } = await Journal.open({ fileSystem: made.fileSystem, path }, () => undefined);
    made.failing = ['write'];
    const failed = [journal.append({ n: 1 }), journal.append({ n: 2 })].map((append) =>
      append.then(
        () => 'durable',
        () => {
          made.failing = [];
          return 'refused';
        },
      ),
    );
    await Promise.resolve();
    await Promise.resolve();
    const later = journal.append({ n: 3 });
    expect(await Promise.all(failed)).toEqual(['refused', 'refused']);
    await later.catch(() => undefined);
    await journal.append({ n: 4 });
    expect(made.content().endsWith(lines({ n: 4 }))).toBe(true);
    expect(made.content()).not.toContain('"n":1');
  });

  it('writes nothing more while a failed line cannot be cut off', async () => {
    const made = bench();
    const { journal } = await Journal.open({ fileSystem: made.fileSystem, path }, () => undefined);
    made.failing = ['sync', 'truncate'];
    await expect(journal.append({ n: 1 })).rejects.toMatchObject({ code: 'io_failed' });
    made.failing = ['truncate'];
    made.calls.length = 0;
    await expect(journal.append({ n: 2 })).rejects.toMatchObject({ code: 'io_failed' });
    expect(made.calls).not.toContain('write');
    made.failing = [];
    await journal.append({ n: 3 });
    expect(made.content()).toBe(lines({ n: 3 }));
  });

  it('goes on without a new cut once one has worked', async () => {
    const made = bench();
    const { journal } = await Journal.open({ fileSystem: made.fileSystem, path }, () => undefined);
    made.failing = ['write'];
    await expect(journal.append({ n: 1 })).rejects.toMatchObject({ code: 'io_failed' });
    made.failing = [];
    made.calls.length = 0;
    await journal.append({ n: 2 });
    expect(made.calls).toEqual(['write', 'sync']);
  });

  it('needs a new handle only for its own cut: a first cut or closing that fails changes nothing', async () => {
    const made = bench();
    const { journal } = await Journal.open({ fileSystem: made.fileSystem, path }, () => undefined);
    made.failing = ['write', 'close'];
    await expect(journal.append({ n: 1 })).rejects.toMatchObject({ code: 'io_failed' });
    made.failing = [];
    await journal.append({ n: 2 });
    expect(made.content()).toBe(lines({ n: 2 }));
  });
});
