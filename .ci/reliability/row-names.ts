// The rows of the reliability table in its order, and what each must show.

export const rowGoals = {
  'engine-kills':
    'kill -9 of the engine at random points: nothing lost or twice, every run resumes to the same totals, no process left after 2 s',
  'replica-kills':
    'kill -9 of a replica or the model backend, in one run: nothing lost or twice, slot back p95 <= 1 s, episodes of the others <= 1.3 x',
  hangs:
    'hang in start, reset, step, close x idle, busy loop, native call holding the lock, SIGSTOP: verdict <= deadline + 1 s, process gone <= 2 s later, run completes',
  orphans:
    'those states x same group, setsid grandchild x engine killed: nothing alive after 2 s (zombies are not alive)',
  'failing-calls': 'k-th failure of file, database and socket calls: no loss, no silence',
  'disk-full': 'disk full at random points: paused and resumed every time, nothing lost',
  corruption: 'corrupted index, torn journal, truncated settings: opens, states the loss, rebuilds',
  simulation:
    'pool, batcher and guard with seeded faults under a fake clock: no invariant breaks, every seed replays',
  models: 'small models explored exhaustively: no invariant breaks',
  failpoints: 'named failpoints along an episode’s life, each with kill, throw and hang: no invariant breaks',
  fuzz: 'graph files and requests over every transport: no crash, each a typed error, no handler reached by an invalid payload',
  unauthorised: 'unauthorised requests: all refused with a typed error, no other content, no effect',
  soak: 'episodes with 2 real replicas: no errors; heap after collection, memory, descriptors and children flat',
  'hostile-surroundings':
    'path with space, quote, CJK, emoji; LANG=C; proxy variables; NODE_OPTIONS; 256 descriptors: all pass',
  determinism:
    'same seeds with 1, 2, 8 workers, batching on and off, 10 % of first attempts die: identical results per episode',
} as const;

export const rowNames: readonly string[] = Object.keys(rowGoals);
