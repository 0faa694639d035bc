// The rows of the reliability table that need no real process, at reduced scale.
import { expect, it } from 'vitest';
import * as failpoints from './failpoints.ts';
import * as models from './models.ts';
import type { RowModule } from './row.ts';
import * as simulation from './simulation.ts';

const rows: readonly (readonly [string, RowModule])[] = [
  ['a swarm of faults breaks no invariant and replays', simulation],
  ['small models hold in every interleaving', models],
  ['a kill, an error and a hang at every named point cost nothing', failpoints],
];

it.each(rows)('%s', { timeout: 170_000 }, async (_promise, { run }) => {
  const signal = AbortSignal.timeout(160_000);
  const { ok, details } = await run({ seed: 1, scale: 'reduced', signal, log: () => {} });
  expect({ ok, details: ok ? null : details }).toEqual({ ok: true, details: null });
});
