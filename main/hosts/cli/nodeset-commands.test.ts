import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { pythonInterpreter } from '../../nodeset/testing/test-registry.ts';
import { buildCli, makeSurroundings, runCli } from '../testing/cli-process.ts';

const interpreter = pythonInterpreter();

describe.skipIf(!existsSync(interpreter))('nodesets on the command line', { timeout: 120_000 }, () => {
  beforeAll(() => buildCli(), 120_000);

  it('get another interpreter, and one that lacks packages is named with what to do', async () => {
    const where = await makeSurroundings();
    const nodesets = path.join(where.workspace, 'nodesets');
    await mkdir(nodesets, { recursive: true });
    await writeFile(
      path.join(nodesets, 'needy.py'),
      '# /// script\n# dependencies = ["ac_no_such_package==1"]\n# ///\nfrom app.components import BaseNodeSet\n\nclass Needy(BaseNodeSet):\n    name = "needy"\n\n    def get_tools(self):\n        return []\n',
    );
    const shown = await runCli(where, '--trust', where.workspace, 'nodesets', 'show', 'needy');
    expect(shown.code).toBe(2);
    expect(shown.stdout).toMatch(/environment +missing: ac_no_such_package==1/);
    expect(shown.stdout).toContain('agentcanvas nodesets build-env needy');
    const set = await runCli(where, 'nodesets', 'set-interpreter', 'needy', interpreter);
    expect([set.code, set.stderr]).toEqual([0, '']);
    expect(set.stdout).toContain(interpreter);
    const loaded = await runCli(where, 'nodesets', 'load', 'needy', '--json');
    expect(loaded.events.at(-1)).toMatchObject({
      name: 'needy',
      state: 'loaded',
      interpreterFrom: 'settings',
    });
    expect((await runCli(where, 'nodesets', 'set-interpreter', 'minivln', interpreter)).code).toBe(2);
  });

  it('are attached by their URL and let go, and what does not fit is refused with what to do', async () => {
    const server = http.createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/manifest') return response.end(JSON.stringify({ name: 'far', functions: [] }));
      response.statusCode = 404;
      return response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const where = await makeSurroundings();
    const attached = await runCli(where, 'nodesets', 'attach', url, '--json');
    expect(attached.events.at(-1)).toMatchObject({ name: 'far', origin: 'attached', source: url });
    const again = await runCli(where, 'nodesets', 'attach', url);
    expect([again.code, again.stderr.includes('already')]).toEqual([2, true]);
    const secret = await runCli(where, 'nodesets', 'attach', url, '--token-env', 's3cr-t');
    expect(secret.stderr).toContain('name of the environment variable');
    expect((await runCli(where, 'nodesets', 'list')).stdout).toMatch(/far +attached/);
    expect((await runCli(where, 'nodesets', 'detach', 'far')).code).toBe(0);
    expect((await runCli(where, 'nodesets', 'list')).stdout).not.toMatch(/far +attached/);
    server.closeAllConnections();
    server.close();
  });
});
