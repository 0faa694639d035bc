// The rows of the reliability table about files, requests and surroundings, at reduced scale.
import { expect, it } from 'vitest';
import * as corruption from './corruption.ts';
import * as diskFull from './disk-full.ts';
import * as failingCalls from './failing-calls.ts';
import * as fuzz from './fuzz.ts';
import * as hostileSurroundings from './hostile-surroundings.ts';
import type { RowModule } from './row.ts';
import * as soak from './soak.ts';
import * as unauthorised from './unauthorised.ts';

const rows: readonly (readonly [string, RowModule])[] = [
  ['failing calls of files, database and sockets lose nothing and are said', failingCalls],
  ['a full disk pauses the run, which resumes to the same results', diskFull],
  ['damaged files are stated, and what can be is built anew', corruption],
  ['damaged graphs and requests get typed errors, whatever the transport', fuzz],
  ['strangers get a typed refusal and nothing else', unauthorised],
  ['thousands of episodes leave descriptors and children as they were', soak],
  ['hostile surroundings change no result', hostileSurroundings],
];

it.runIf(process.platform === 'linux').each(rows)('%s', { timeout: 180_000 }, async (_promise, { run }) => {
  const signal = AbortSignal.timeout(170_000);
  const { ok, details } = await run({ seed: 1, scale: 'reduced', signal, log: () => {} });
  expect({ ok, details: ok ? null : details }).toEqual({ ok: true, details: null });
});
