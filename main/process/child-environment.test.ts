// What a child finds in its environment, and what it does not.
import { describe, expect, it } from 'vitest';
import { childEnvironment } from './child-environment.ts';

describe('the environment of a child', () => {
  it('has nothing of the app and no stored secret, but what was added on purpose', () => {
    const inherited = {
      HOME: '/h',
      NODE_OPTIONS: '--inspect',
      ELECTRON_RUN_AS_NODE: '1',
      npm_config_x: '1',
      OPENAI_API_KEY: 's',
      AGENTCANVAS_NONCE: 'n',
      EMPTY: '',
      GONE: undefined,
    };
    const result = childEnvironment({
      inherited,
      secretNames: ['OPENAI_API_KEY'],
      added: { NODE_ENV: 'test' },
    });
    expect(Object.keys(result).toSorted()).toEqual([
      'EMPTY',
      'HOME',
      'NODE_ENV',
      'NO_PROXY',
      'PYTHONUTF8',
      'no_proxy',
    ]);
  });

  it('keeps the user’s exceptions from a proxy, of both spellings, and adds this machine', () => {
    const result = childEnvironment({
      inherited: { NO_PROXY: 'corp.example, localhost', no_proxy: 'lab.example,corp.example' },
    });
    expect(result['NO_PROXY']).toBe('corp.example,localhost,lab.example,127.0.0.1,::1');
    expect(result['no_proxy']).toBe(result['NO_PROXY']);
  });

  it('has an AppImage’s own folders taken out of path lists', () => {
    const inherited = {
      APPDIR: '/tmp/.mount_x',
      PATH: '/tmp/.mount_x/usr/bin:/usr/bin:/tmp/.mount_xy',
      LD_LIBRARY_PATH: '/tmp/.mount_x/lib',
    };
    const result = childEnvironment({ inherited });
    expect([result['PATH'], result['LD_LIBRARY_PATH']]).toEqual(['/usr/bin:/tmp/.mount_xy', undefined]);
  });
});
