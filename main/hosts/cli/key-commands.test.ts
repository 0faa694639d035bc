// Keys on the command line: typed, piped or from a variable; kept for this user alone; printed nowhere.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildCli, makeSurroundings, type Surroundings } from '../testing/cli-process.ts';
import { readSecret } from './read-secret.ts';

const key = 'sk-canary-of-the-key-commands-0123456789';
const program = path.resolve(import.meta.dirname, '../../../dist/engine/cli.mjs');

let where: Surroundings;
beforeAll(async () => {
  buildCli();
  where = await makeSurroundings();
}, 60_000);

interface Spoken {
  readonly code: number | null;
  readonly text: string;
}

async function keys(args: readonly string[], input = '', more: NodeJS.ProcessEnv = {}): Promise<Spoken> {
  const child = spawn(process.execPath, [program, '--workspace', where.workspace, 'keys', ...args], {
    env: { ...where.environment, OPENAI_API_KEY: undefined, ...more },
    cwd: where.folder,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  expect(text).not.toContain(key);
  return { code, text };
}

describe('keys', () => {
  it('takes a key from standard input, keeps it for this user alone, and forgets it', async () => {
    expect((await keys(['list'])).text).toMatch(/openai +missing +OPENAI_API_KEY/);
    const set = await keys(['set', 'openai'], `${key}\n`);
    expect(set).toMatchObject({ code: 0, text: expect.stringContaining('no key store') as string });
    const file = path.join(where.folder, 'home', 'language-model-keys.json');
    expect(await readFile(file, 'utf8')).toContain(key);
    const mode = process.platform === 'win32' ? 0o600 : (await stat(file)).mode & 0o777;
    expect(mode).toBe(0o600);
    expect((await keys(['list', '--json'])).text).toContain('"name":"openai","key":"file"');
    expect(await keys(['remove', 'openai'])).toMatchObject({ code: 0 });
    expect(await readFile(file, 'utf8')).not.toContain(key);
    expect((await keys(['remove', 'openai'])).code).toBe(2);
  });

  it('takes a key from a variable, and says what is wrong with what it was given', async () => {
    expect(await keys(['set', 'openai', '--from-env', 'MINE'], '', { MINE: key })).toMatchObject({ code: 0 });
    await keys(['remove', 'openai']);
    for (const [args, input, says] of [
      [['set', 'openai'], '\n', 'No key was given'],
      [['set', 'openai'], 'two words\n', 'no spaces'],
      [['set', 'opneai'], key, 'No provider is named "opneai". Known are openai'],
      [['set', 'openai', '--from-env', 'NOT_THERE'], '', 'NOT_THERE is not set'],
      [['set', 'openai', key], '', 'not taken as an argument'],
      [['test', 'openai'], '', '--model NAME'],
    ] as const) {
      const refused = await keys(args, input);
      expect([refused.code, refused.text]).toEqual([2, expect.stringContaining(says)]);
    }
  });

  it('tests a provider, and does not print a key that the server sends back', async () => {
    const server = createServer((request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `bad key ${request.headers.authorization}` } }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as { port: number };
    await writeFile(
      path.join(where.workspace, 'settings.json'),
      JSON.stringify({ chat: { providers: [{ name: 'mine', base_url: `http://127.0.0.1:${port}/v1` }] } }),
    );
    expect((await keys(['set', 'mine'], key)).code).toBe(0);
    const tested = await keys(['test', 'mine', '--model', 'any']);
    expect([tested.code, tested.text]).toEqual([1, expect.stringMatching(/mine: .*(401|key)/)]);
    server.close();
  });
});

describe('a secret that is typed', () => {
  it('is read without echo up to Enter, with corrections, and Ctrl-C changes nothing', async () => {
    const modes: boolean[] = [];
    const type = async (typed: string): Promise<string> => {
      const input = Object.assign(new PassThrough({ encoding: 'utf8' }), {
        isTTY: true,
        setRawMode: (isRaw: boolean) => modes.push(isRaw),
      });
      input.write(typed);
      let shown = '';
      const secret = await readSecret({ input, ask: (text) => (shown += text), prompt: 'Key: ' });
      expect(shown).toBe('Key: \n');
      return secret;
    };
    expect(await type('abx\u007fc\r')).toBe('abc');
    expect(modes).toEqual([true, false]);
    await expect(type('abc\u0003')).rejects.toMatchObject({ code: 'aborted' });
    await expect(type('\r')).rejects.toMatchObject({ code: 'invalid_input' });
    expect(modes).toEqual([true, false, true, false, true, false]);
  });
});
