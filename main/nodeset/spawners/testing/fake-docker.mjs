// A recording `docker`: writes down every command line and acts on it with a process of this machine instead of a
// container. As the real one: the child's standard input ends when this client does, and its exit code is passed on.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

const folder = path.dirname(process.argv[1]);
const running = path.join(folder, 'running');
mkdirSync(running, { recursive: true });
const args = process.argv.slice(2);
const seen = Object.entries(process.env).filter(([name]) => /^(AGENTCANVAS_|FAKE_|PYTHON)/.test(name));
appendFileSync(
  path.join(folder, 'calls.jsonl'),
  `${JSON.stringify({ args, env: Object.fromEntries(seen) })}\n`,
);

const fileOf = (id) => path.join(running, `${id}.json`);
const valueOf = (flag) => args[args.indexOf(flag) + 1];
const all = (flag) => args.flatMap((arg, index) => (arg === flag ? [args[index + 1]] : []));
const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

function run() {
  const id = randomBytes(32).toString('hex');
  const door = all('--mount').find((mount) => mount.includes('target=/agentcanvas/door'));
  const handshake = path.join(/source=([^,]+)/.exec(door)[1], 'handshake');
  writeFileSync(valueOf('--cidfile'), id);
  const last = args.lastIndexOf('--entrypoint');
  const [program, , ...rest] = args.slice(last + 1);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  for (const given of all('--env')) {
    const [name, ...value] = given.split('=');
    if (given.includes('=')) env[name] = value.join('=');
    else if (process.env[name] !== undefined) env[name] = process.env[name];
  }
  env.AGENTCANVAS_HANDSHAKE = handshake;
  env.AGENTCANVAS_LISTEN = 'tcp:127.0.0.1';
  const child = spawn(program, rest, {
    env,
    cwd: valueOf('--workdir'),
    stdio: ['pipe', 'inherit', 'inherit'],
    detached: true,
  });
  writeFileSync(fileOf(id), JSON.stringify({ pid: child.pid, handshake, label: all('--label'), exit: null }));
  process.stdin.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  child.on('exit', (code, signal) => {
    rmSync(fileOf(id), { force: true });
    process.exit(signal ? 137 : (code ?? 1));
  });
}

const commands = {
  run,
  port: () => {
    const { handshake } = JSON.parse(readFileSync(fileOf(args[1]), 'utf8'));
    console.log(JSON.parse(readFileSync(handshake, 'utf8')).listen.replace(/^tcp:/, ''));
  },
  ps: () => {
    const wanted = valueOf('--filter').replace(/^label=/, '');
    for (const file of readdirSync(running).filter((name) => name.endsWith('.json'))) {
      const { label, pid } = JSON.parse(readFileSync(path.join(running, file), 'utf8'));
      if (label.includes(wanted) && isAlive(pid)) console.log(file.slice(0, -5));
    }
  },
  rm: () => {
    for (const id of args.filter((arg) => /^[0-9a-f]{12,}$/.test(arg))) {
      if (!existsSync(fileOf(id))) {
        console.error(`Error response from daemon: No such container: ${id}`);
        process.exitCode = 1;
        continue;
      }
      const { pid } = JSON.parse(readFileSync(fileOf(id), 'utf8'));
      if (isAlive(pid)) process.kill(-pid, 'SIGKILL');
      rmSync(fileOf(id), { force: true });
      console.log(id);
    }
  },
  version: () => console.log('99.0'),
  image: () => {
    if (existsSync(path.join(folder, 'no-image'))) process.exitCode = 1;
    else console.log('[]');
  },
};
commands[args[0]]();
