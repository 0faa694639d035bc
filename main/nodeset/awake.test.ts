import { describe, expect, it } from 'vitest';
import { haveCoresToThemselves, processCountOf } from './awake.ts';

describe('the processes of a run', () => {
  it('are one per worker or group of each replicated nodeset, and one per server', () => {
    const run = { workerCount: 8, envsPerProcess: 1, replicatedNodesets: 2, servers: 1 };
    expect(processCountOf(run)).toBe(17);
    expect(processCountOf({ ...run, envsPerProcess: 3 })).toBe(7);
  });

  it('wait awake only where each of them and the engine have a core', () => {
    expect(haveCoresToThemselves(1, 2)).toBe(true);
    expect(haveCoresToThemselves(2, 2)).toBe(false);
    expect(haveCoresToThemselves(8, 16)).toBe(true);
    expect(haveCoresToThemselves(1, 1)).toBe(false);
  });
});
