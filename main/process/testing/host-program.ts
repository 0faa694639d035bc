// A host for tests, with the states that a host must not survive its engine in.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { runHostServer } from '../host-server.ts';

const mode = process.argv[2] ?? 'serve';
if (mode === 'exit') {
  process.stderr.write('loading the scene\nno display found\n');
  process.exit(7);
}
if (mode === 'silent') setInterval(() => {}, 1_000);
else await runHostServer({ handle: answer });

async function sleepInGrandchild(detached: boolean): Promise<number> {
  const grandchild = spawn('/bin/sleep', ['1000'], { detached, stdio: 'ignore' });
  grandchild.unref();
  return grandchild.pid ?? 0;
}

function answer(method: string, params: unknown): unknown {
  switch (method) {
    case 'echo':
      return params;
    case 'environment':
      return { ...process.env };
    case 'stdin':
      return readAll(process.stdin);
    case 'initial_environment':
      return readFileSync('/proc/self/environ', 'utf8')
        .split('\0')
        .map((entry) => entry.split('=')[0]);
    case 'grandchild':
      return sleepInGrandchild(false);
    case 'setsid_grandchild':
      return sleepInGrandchild(true);
    case 'busy':
      setImmediate(() => {
        for (;;);
      });
      return true;
    case 'crash':
      process.stderr.write('segment lost\n');
      setImmediate(() => process.kill(process.pid, 'SIGSEGV'));
      return true;
    case 'shutdown':
      return {};
    default:
      throw new RangeError(`no method ${method}`);
  }
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}
