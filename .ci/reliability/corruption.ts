// Damaged files of a workspace: an index that is garbage somewhere, a journal cut or overwritten, settings cut short. Each
// opens, what is lost is stated, and everything that can be built anew is.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createRandom, type Random } from '../../main/base/random.ts';
import { settings, type Settings } from '../../main/contract/settings.ts';
import { nodeFileSystem } from '../../main/store/node-file-system.ts';
import {
  openSampleStore,
  rowOf,
  samplePlan,
  sampleRecord,
  storeOptions,
} from '../../main/store/testing/sample-store.ts';
import type { RunStore } from '../../main/store/ports.ts';
import { openSettings } from '../../main/store/workspace.ts';
import { atScale, Faults, type RowOptions, type RowResult } from './row.ts';

const episodes = 40;
const runIds = ['20261201T000000.000Z-aaaaaa', '20261201T000000.000Z-bbbbbb'];
const graphText = '{"name":"g","nodes":[],"edges":[]}';

export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const each = atScale(scale, 50, 6);
  const random = createRandom(seed);
  const faults = new Faults();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'corruption-'));
  try {
    await fill(folder);
    const rebuilt = await damagedIndex({ folder, random, each, faults, signal });
    log(`${each} damaged indexes`);
    const stated = await damagedJournal({ folder, random, each, faults, signal });
    log(`${each} damaged journals`);
    const lastGood = await truncatedSettings({ folder, random, each, faults, signal });
    return {
      name: 'corruption',
      figures: {
        'damaged indexes': each,
        'of them rebuilt with a reason': rebuilt,
        'damaged journals': each,
        'of them stated by byte or line': stated,
        'truncated settings': each,
        'of them replaced by the last good ones': lastGood,
        'did not open, silent, or wrong afterwards': faults.count,
      },
      ok: faults.count === 0 && stated === each,
      details: faults.stories,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Context {
  readonly folder: string;
  readonly random: Random;
  readonly each: number;
  readonly faults: Faults;
  readonly signal: AbortSignal;
}

async function fill(folder: string): Promise<void> {
  await using store = await openSampleStore(folder);
  for (const runId of runIds) {
    await using handle = await store.create({
      record: sampleRecord({ runId, plan: samplePlan(episodes) }),
      graphText,
    });
    for (const planned of handle.missing()) await handle.append(rowOf(planned));
    await handle.finish('completed');
  }
}

async function everything(store: RunStore): Promise<string> {
  const { items } = await store.list();
  const rows = await Promise.all(items.map(({ runId }) => store.listEpisodes(runId, { limit: 1000 })));
  return JSON.stringify([items.toSorted((a, b) => (a.runId < b.runId ? -1 : 1)), rows]);
}

async function damagedIndex({ folder, random, each, faults, signal }: Context): Promise<number> {
  const { indexPath } = storeOptions(folder);
  let expected: string;
  {
    await using store = await openSampleStore(folder);
    expected = await everything(store);
  }
  let rebuilt = 0;
  for (let round = 0; round < each; round++) {
    signal.throwIfAborted();
    const bytes = await readFile(indexPath);
    await writeFile(indexPath, damageBlock(bytes, random, 4096));
    try {
      await using store = await openSampleStore(folder);
      const { rebuiltBecause } = await store.refreshIndex();
      if (rebuiltBecause !== null) rebuilt++;
      const found = await everything(store);
      faults.check(
        found === expected,
        () => `index ${round}: shows something else (rebuilt: ${rebuiltBecause})`,
      );
    } catch (error) {
      faults.add(`index ${round}: ${String(error)}`);
    }
    // The next round begins with a whole one.
    await using store = await openSampleStore(folder);
    await store.rebuildIndex();
  }
  return rebuilt;
}

/** What disks do: a block is garbage or zeros, the file is cut, or it is empty. */
function damageBlock(bytes: Buffer, random: Random, block: number): Buffer {
  const blocks = Math.max(1, Math.floor(bytes.length / block));
  const at = random.integer(blocks) * block;
  switch (random.integer(5)) {
    case 0:
      return bytes.subarray(0, random.integer(bytes.length));
    case 1:
      return Buffer.from(bytes).fill(0, at, at + block);
    case 2:
      return Buffer.from(bytes).fill(0xa5, at, at + block);
    case 3:
      return Buffer.concat([
        Buffer.from(bytes.subarray(0, at)),
        randomBytes(random, block),
        bytes.subarray(at + block),
      ]);
    default:
      return Buffer.alloc(0);
  }
}

function randomBytes(random: Random, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => random.integer(256)));
}

async function damagedJournal({ folder, random, each, faults, signal }: Context): Promise<number> {
  const [runId = ''] = runIds;
  const file = path.join(storeOptions(folder).runsFolder, runId, 'episodes.jsonl');
  const whole = await readFile(file);
  let stated = 0;
  for (let round = 0; round < each; round++) {
    signal.throwIfAborted();
    const isTorn = random.integer(2) === 0;
    const at = 1 + random.integer(whole.length - 2);
    const length = 1 + random.integer(300);
    const damaged = isTorn
      ? whole.subarray(0, at)
      : Buffer.concat([whole.subarray(0, at), randomBytes(random, length), whole.subarray(at + length)]);
    await writeFile(file, damaged);
    try {
      await using store = await openSampleStore(folder);
      await using handle = await store.open(runId);
      const { tornBytes, corruptLines } = handle.journalReport;
      const missing = handle.missing().length;
      const isCutAtLine = isTorn && whole[at - 1] === 0x0a;
      const isStated = tornBytes > 0 || corruptLines.length > 0 || (isCutAtLine && missing > 0);
      if (isStated) stated++;
      else faults.add(`journal ${round}: the damage at ${at} was not stated`);
      // It goes on to the whole: what is missing is run again, nothing is there twice.
      for (const planned of handle.missing())
        await handle.append(rowOf(planned, { attempt: handle.recordedAttempts(planned.ordinal) + 1 }));
      const finals = await handle.finals();
      const ordinals = new Set(finals.map(({ ordinal }) => ordinal));
      faults.check(
        finals.length === episodes && ordinals.size === episodes && handle.missing().length === 0,
        () => `journal ${round}: ${finals.length} rows of ${ordinals.size} episodes after going on`,
      );
    } catch (error) {
      faults.add(`journal ${round}: ${String(error)}`);
    }
  }
  await writeFile(file, whole);
  return stated;
}

async function truncatedSettings({ folder, random, each, faults, signal }: Context): Promise<number> {
  const file = path.join(folder, 'settings.json');
  const open = (): ReturnType<typeof openSettings> =>
    openSettings({ fileSystem: nodeFileSystem, now: () => Date.now() + random.integer(1e9) }, file);
  const good: Settings = settings.parse({
    python: '/opt/python',
    nodesetFolders: ['/a b'],
    perStepBudgetSec: 4,
  });
  await open().write(good);
  const text = await readFile(file, 'utf8');
  let lastGood = 0;
  for (let round = 0; round < each; round++) {
    signal.throwIfAborted();
    // Without its last line break it is still whole.
    await writeFile(file, text.slice(0, random.integer(text.length - 2)));
    const { value, source, problem } = await open().read();
    if (source === 'last_good') lastGood++;
    faults.check(problem !== null, () => `settings ${round}: the damage was not stated`);
    faults.check(
      JSON.stringify(value) === JSON.stringify(good),
      () => `settings ${round}: other values (${source})`,
    );
    // A second start finds the same; nothing was written over.
    const again = await open().read();
    faults.check(
      JSON.stringify(again.value) === JSON.stringify(good),
      () => `settings ${round}: lost at the next start`,
    );
  }
  return lastGood;
}
