// The k-th call of the file system, the database and the sockets fails, for every k: what was acknowledged is there, what
// failed was said, and the run goes on to the whole afterwards.
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { nodeFileSystem } from '../../main/store/node-file-system.ts';
import { createFaultyFileSystem } from '../../main/store/testing/faulty-file-system.ts';
import { createBenchWorkspace, outcomesOf, readJournal } from './bench-workspace.ts';
import { openStudio } from './open-studio.ts';
import { readScenario, runScenario, scenarioEpisodes, type ScenarioOutcome } from './pool-scenario.ts';
import { atScale, Faults, type RowOptions, type RowResult, type Scale } from './row.ts';

interface Counted {
  cases: number;
  /** Calls that failed without a word and without any effect on what is stored. */
  harmless: number;
}

export async function run({ scale, signal, log }: RowOptions): Promise<RowResult> {
  const faults = new Faults();
  const files = await failingFiles({ scale, signal, faults });
  log(`${files.cases} failing file calls`);
  const database = await failingDatabase({ scale, signal, faults });
  log(`${database.cases} failing database calls`);
  const sockets = await failingSockets({ scale, signal, faults });
  return {
    name: 'failing-calls',
    figures: {
      'failing file calls': files.cases,
      'failing database calls': database.cases,
      'failing socket writes': sockets.cases,
      'of them without any effect': files.harmless + database.harmless,
      'lost, silent, untyped or not whole afterwards': faults.count,
    },
    ok: faults.count === 0,
    details: faults.stories,
  };
}

interface Context {
  readonly scale: Scale;
  readonly signal: AbortSignal;
  readonly faults: Faults;
}

async function failingFiles({ scale, signal, faults }: Context): Promise<Counted> {
  const counted: Counted = { cases: 0, harmless: 0 };
  const codes = atScale(scale, ['EIO', 'ENOSPC'], ['EIO']);
  for (const code of codes) {
    for (const isLasting of [false, true]) {
      for (let k = 0, more = true; more; k += atScale(scale, 1, 11)) {
        signal.throwIfAborted();
        let failed = '';
        const fileSystem = createFaultyFileSystem(nodeFileSystem, {
          shouldFail: (operation, count, file) => {
            if (count !== k && !(isLasting && count > k)) return undefined;
            failed ||= `${operation} of ${path.basename(file)}`;
            return code;
          },
        });
        await oneCase({
          title: () => `${code} from file call ${k}${isLasting ? ' on' : ''} (${failed})`,
          run: (folder) => runScenario({ folder, fileSystem }),
          hasFailed: () => failed !== '',
          faults,
          counted,
        });
        more = failed !== '';
      }
    }
  }
  return counted;
}

/** SQLite's codes: input/output error, full. */
const sqliteCodes = [10, 13];

async function failingDatabase({ scale, signal, faults }: Context): Promise<Counted> {
  const counted: Counted = { cases: 0, harmless: 0 };
  for (const code of atScale(scale, sqliteCodes, [10])) {
    for (let k = 0, more = true; more; k += atScale(scale, 1, 17)) {
      signal.throwIfAborted();
      const failing = failDatabaseCall(k, code);
      await oneCase({
        title: () => `SQLite code ${code} from call ${k} (${failing.what()})`,
        run: async (folder) => {
          using _failing = failing;
          return await runScenario({ folder, fileSystem: nodeFileSystem });
        },
        hasFailed: () => failing.what() !== '',
        faults,
        counted,
      });
      more = failing.what() !== '';
    }
  }
  return counted;
}

/** A decorator around the classes themselves: there is no port between the index and its library. */
function failDatabaseCall(k: number, errcode: number): Disposable & { what(): string } {
  let count = 0;
  let what = '';
  const restore: (() => void)[] = [];
  const wrap = (prototype: object, name: string): void => {
    const original = Reflect.get(prototype, name) as (...values: unknown[]) => unknown;
    restore.push(() => Reflect.set(prototype, name, original));
    Reflect.set(prototype, name, function wrapped(this: unknown, ...values: unknown[]) {
      if (count++ === k) {
        what = `${name} ${typeof values[0] === 'string' ? values[0].slice(0, 60) : ''}`;
        throw Object.assign(new Error('injected'), { code: 'ERR_SQLITE_ERROR', errcode });
      }
      return original.apply(this, values);
    });
  };
  for (const name of ['exec', 'prepare']) wrap(DatabaseSync.prototype, name);
  for (const name of ['run', 'get', 'all', 'iterate']) wrap(StatementSync.prototype, name);
  return {
    what: () => what,
    [Symbol.dispose]: () => restore.forEach((undo) => undo()),
  };
}

interface Case {
  readonly title: () => string;
  readonly run: (folder: string) => Promise<ScenarioOutcome>;
  readonly hasFailed: () => boolean;
  readonly faults: Faults;
  readonly counted: Counted;
}

async function oneCase({ title, run, hasFailed, faults, counted }: Case): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'failing-'));
  try {
    const outcome = await run(folder);
    if (!hasFailed()) return;
    counted.cases++;
    for (const message of outcome.untyped) faults.add(`${title()}: untyped: ${message}`);
    const fileSystem = nodeFileSystem;
    const after = await readScenario({ folder, fileSystem });
    for (const ordinal of outcome.acknowledged)
      faults.check(
        after.finals.includes(ordinal),
        () => `${title()}: episode ${ordinal} was acknowledged and is lost`,
      );
    if (outcome.told.length === 0) {
      const isWhole = after.record?.status === 'completed' && after.finals.length === scenarioEpisodes;
      if (isWhole) counted.harmless++;
      else faults.add(`${title()}: nothing was said`);
    }
    if (after.record?.status !== 'completed') await runScenario({ folder, fileSystem });
    const whole = await readScenario({ folder, fileSystem });
    const ordinals = new Set(whole.finals);
    faults.check(
      ordinals.size === scenarioEpisodes &&
        whole.finals.length === scenarioEpisodes &&
        whole.listed === scenarioEpisodes,
      () =>
        `${title()}: afterwards ${whole.finals.length} rows, ${ordinals.size} episodes, ${whole.listed} listed`,
    );
  } catch (error) {
    faults.add(`${title()}: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const socketConfig = { graph: 'plain', episodes: 4, workerCount: 2, seed: 3, retry: { attempts: 3 } };

/** The engine's k-th write to any of its hosts breaks the connection. */
async function failingSockets({ scale, signal, faults }: Context): Promise<{ cases: number }> {
  await using workspace = await createBenchWorkspace({ name: 'failing sockets' });
  await using bench = await openStudio(workspace);
  const calm = await bench.evaluate(socketConfig);
  const expected = outcomesOf(await readJournal(workspace.folder, calm.runId));
  let cases = 0;
  for (let k = 0; ; k += atScale(scale, 2, 24)) {
    signal.throwIfAborted();
    const failing = failSocketWrite(k);
    let runId = '';
    let status = '';
    {
      using _failing = failing;
      ({ runId, status } = await bench.evaluate(socketConfig));
    }
    if (failing.hasFailed()) cases++;
    const { record } = await bench.ask('runs.get', { runId });
    if (!failing.hasFailed() && status === 'failed')
      faults.add(`socket write ${k}: a run failed without one: ${JSON.stringify(record.error)}`);
    if (status === 'failed') {
      // Before its first episode: nothing to lose, and it says why.
      faults.check(record.error !== null, () => `socket write ${k}: failed without a reason`);
      continue;
    }
    const outcomes = outcomesOf(await readJournal(workspace.folder, runId));
    faults.check(
      status === 'completed' && JSON.stringify(outcomes) === JSON.stringify(expected),
      () => `socket write ${k}: ${status}, ${outcomes.length} of ${expected.length} outcomes`,
    );
    if (!failing.hasFailed()) return { cases };
  }
}

function failSocketWrite(k: number): Disposable & { hasFailed(): boolean } {
  let count = 0;
  const original: typeof Socket.prototype.write = Reflect.get(Socket.prototype, 'write');
  const connect = Reflect.get(Socket.prototype, 'connect') as (...values: unknown[]) => Socket;
  // Pipes to children are sockets too; a broken pipe to the reaper means to it that this engine is gone.
  const connected = new WeakSet<Socket>();
  Reflect.set(Socket.prototype, 'connect', function connecting(this: Socket, ...values: unknown[]) {
    connected.add(this);
    return connect.apply(this, values);
  });
  const hooked = function write(this: Socket, ...values: Parameters<Socket['write']>): boolean {
    if (connected.has(this) && count++ === k) {
      this.destroy(Object.assign(new Error('injected'), { code: 'EPIPE' }));
      return false;
    }
    return original.apply(this, values);
  };
  Socket.prototype.write = hooked as typeof original;
  return {
    hasFailed: () => count > k,
    [Symbol.dispose]: () => {
      Socket.prototype.write = original;
      Reflect.set(Socket.prototype, 'connect', connect);
    },
  };
}
