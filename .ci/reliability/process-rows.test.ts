// The rows of the reliability table that kill, hang and crowd processes, at reduced scale.
import { expect, it } from 'vitest';
import * as determinism from './determinism.ts';
import * as engineKills from './engine-kills.ts';
import * as hangs from './hangs.ts';
import * as orphans from './orphans.ts';
import * as replicaKills from './replica-kills.ts';
import type { RowModule } from './row.ts';

const rows: readonly (readonly [string, RowModule])[] = [
  ['an engine killed at random points loses nothing, doubles nothing and leaves nothing', engineKills],
  ['replicas and models killed in a run cost no episode', replicaKills],
  ['what hangs is judged at its deadline and is gone soon after', hangs],
  ['nothing that hangs outlives a killed engine', orphans],
  ['results do not depend on workers, batching or deaths', determinism],
];

it.runIf(process.platform === 'linux').each(rows)('%s', { timeout: 180_000 }, async (_promise, { run }) => {
  const signal = AbortSignal.timeout(170_000);
  const { ok, details } = await run({ seed: 1, scale: 'reduced', signal, log: () => {} });
  expect({ ok, details: ok ? null : details }).toEqual({ ok: true, details: null });
});
