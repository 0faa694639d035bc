// A Python contender: a child that answers a line of text with a line of JSON.
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

const folder = import.meta.dirname;

export interface LineChild extends AsyncDisposable {
  readonly pid: number;
  /** What it says first. */
  readonly hello: Readonly<Record<string, unknown>>;
  ask(line: string): Promise<Readonly<Record<string, unknown>>>;
}

/** The end of its input ends it, also when this process is killed. */
export async function startLineChild(python: string, args: readonly string[]): Promise<LineChild> {
  const [program = '', ...rest] = args;
  const child = spawn(python, [`${folder}/${program}`, ...rest], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, OMP_NUM_THREADS: '1', PYTHONPATH: folder },
  });
  const next = answersOf(child, program);
  const hello = await next();
  return {
    pid: child.pid ?? 0,
    hello,
    ask(line) {
      child.stdin?.write(`${line}\n`);
      return next();
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.stdin?.end();
      await exited;
    },
  };
}

function answersOf(child: ChildProcess, program: string): () => Promise<Readonly<Record<string, unknown>>> {
  let settle: PromiseWithResolvers<Readonly<Record<string, unknown>>> | undefined;
  const lines: string[] = [];
  const give = (): void => {
    const line = settle ? lines.shift() : undefined;
    if (line === undefined) return;
    settle?.resolve(JSON.parse(line) as Readonly<Record<string, unknown>>);
    settle = undefined;
  };
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      give();
    });
  child.once('exit', (code) => settle?.reject(new Error(`${program} ended with ${code}`)));
  child.once('error', (error) => settle?.reject(error));
  return () => {
    settle = Promise.withResolvers();
    const { promise } = settle;
    if (child.exitCode !== null) settle.reject(new Error(`${program} has ended`));
    give();
    return promise;
  };
}
