import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../base/fake-clock.ts';
import { StudioError } from '../base/errors.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import type { ReplicaSet } from '../nodeset/ports.ts';
import { attemptRow, type AttemptOutcome } from './attempt-row.ts';
import { Lease, type Conclusion } from './lease.ts';
import type { EpisodeRequest } from './ports.ts';
import { SuspendWatch } from './suspend-watch.ts';
import { planOf } from './testing/fake-journal.ts';
import { createFakeReplicas } from './testing/fake-replicas.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly lease: Lease;
  /** What the runner was asked. */
  readonly request: EpisodeRequest;
  readonly answer: (more?: Partial<EpisodeAttempt>) => Promise<void>;
  readonly fail: (error: unknown) => Promise<void>;
  readonly late: () => number;
  /** What the lease was concluded with, so far. */
  readonly conclusion: () => Conclusion | undefined;
}

const death = { instance: 'fake#0', exitCode: null, signal: 'SIGSEGV', stderrTail: [], expected: false };

/** A lease whose runner does what the test does; limits: 2 s for the reset, 100 ms a step. */
async function begin(more: Partial<ReplicaSet> = {}): Promise<Bench> {
  const clock = createFakeClock();
  let replicas: ReplicaSet | undefined;
  const starting = createFakeReplicas({ clock, startMs: () => 0 }).start(0, new AbortController().signal);
  void starting.then((started) => (replicas = started));
  await clock.advance(0);
  if (!replicas) throw new Error('no replica');
  const [episode] = planOf(1);
  if (!episode) throw new Error('no episode');
  const run = Promise.withResolvers<EpisodeAttempt>();
  let request: EpisodeRequest | undefined;
  let late = 0;
  let conclusion: Conclusion | undefined;
  const lease = new Lease({
    episode,
    token: { attempt: 2, epoch: 3 },
    worker: 1,
    replicas: Object.assign(replicas, more),
    runner: {
      run(asked) {
        request = asked;
        return run.promise;
      },
    },
    clock,
    watch: new SuspendWatch(clock),
    limits: { resetMs: 2000, episodeMs: (budget) => budget * 100, defaultStepBudget: 70 },
    onLateAnswer: () => void late++,
  });
  void lease.concluded.then((value) => (conclusion = value));
  if (!request) throw new Error('the runner was not asked');
  const completed: AttemptOutcome = {
    status: 'completed',
    metrics: {},
    limit: null,
    error: null,
    nodeErrors: [],
  };
  return {
    clock,
    lease,
    request,
    late: () => late,
    conclusion: () => conclusion,
    async answer(more) {
      run.resolve({ ...attemptRow(lease.facts(), completed), ...more });
      await clock.advance(0);
    },
    async fail(error) {
      run.reject(error);
      await clock.advance(0);
    },
  };
}

const codeOf = (reason: unknown): unknown =>
  reason instanceof StudioError ? [reason.code, reason.message] : reason;

describe('a lease asks its runner', () => {
  it('for the attempt, with the token it was given', async () => {
    const { request } = await begin();
    expect(request).toMatchObject({ attempt: 2, epoch: 3, worker: 1, episode: { ordinal: 0 } });
  });

  it('and takes its answer, which nobody aborts afterwards', async () => {
    const { lease, request, answer, conclusion, clock } = await begin();
    await answer({ steps: 9 });
    expect(conclusion()).toMatchObject({ kind: 'answer', attempt: { status: 'completed', steps: 9 } });
    lease.cancel();
    lease.died(death);
    await clock.advance(10_000);
    expect(request.signal.aborted).toBe(false);
    expect(conclusion()?.kind).toBe('answer');
  });

  it('and refuses the answer for another episode, attempt or epoch, saying which came', async () => {
    const wrongs: readonly (readonly [Partial<EpisodeAttempt>, string])[] = [
      [{ ordinal: 5 }, 'An answer for attempt 2 of episode 5 came'],
      [{ attempt: 1 }, 'An answer for attempt 1 of episode 0 came'],
      [{ epoch: 2 }, 'An answer for attempt 2 of episode 0 came'],
    ];
    for (const [wrong, message] of wrongs) {
      const { answer, conclusion } = await begin();
      await answer(wrong);
      const error = { code: 'internal', message };
      expect(conclusion()).toMatchObject({
        kind: 'answer',
        attempt: { ordinal: 0, attempt: 2, epoch: 3, status: 'error', error },
      });
    }
  });

  it('and makes an error row of what it throws', async () => {
    const { fail, conclusion } = await begin();
    await fail(new StudioError('node_failed', 'odd'));
    expect(conclusion()).toMatchObject({
      kind: 'answer',
      attempt: { status: 'error', attempt: 2, error: { code: 'node_failed', message: 'odd' } },
    });
  });
});

describe('a lease ends its runner', () => {
  it('at the time-out of the reset, with the reason', async () => {
    const { clock, request, conclusion } = await begin();
    await clock.advance(1999);
    expect([request.signal.aborted, conclusion()]).toEqual([false, undefined]);
    await clock.advance(1);
    expect(conclusion()).toEqual({ kind: 'timeout', limitMs: 2000 });
    expect(codeOf(request.signal.reason)).toEqual(['timeout', 'took longer than 2 s']);
  });

  it('at the death of its replica, with the reason', async () => {
    const { clock, lease, request, conclusion } = await begin();
    lease.died(death);
    await clock.advance(0);
    expect(conclusion()).toEqual({ kind: 'died', death });
    expect(codeOf(request.signal.reason)).toEqual(['process_died', 'fake#0 ended']);
  });

  it('that another environment ended is aborted like a cancelled one: nothing of it is kept', async () => {
    const { lease, request } = await begin();
    lease.died({ ...death, byMate: true });
    expect(codeOf(request.signal.reason)).toEqual(['aborted', 'fake#0 ended']);
  });

  it('at a cancel, with the reason', async () => {
    const { clock, lease, request, conclusion } = await begin();
    lease.cancel();
    await clock.advance(0);
    expect(conclusion()).toEqual({ kind: 'cancelled' });
    expect(codeOf(request.signal.reason)).toEqual(['aborted', 'The run was cancelled']);
  });

  it('once: what comes first counts', async () => {
    const { clock, lease, request, conclusion } = await begin();
    lease.died(death);
    lease.cancel();
    await clock.advance(5000);
    expect(conclusion()?.kind).toBe('died');
    expect(codeOf(request.signal.reason)).toEqual(['process_died', 'fake#0 ended']);
    // The watch's own timer.
    expect(clock.pendingTimers).toBe(1);
  });

  it('and counts a verdict that comes afterwards, but not an error', async () => {
    const verdict = await begin();
    verdict.lease.cancel();
    await verdict.answer();
    expect([verdict.late(), verdict.conclusion()?.kind]).toEqual([1, 'cancelled']);
    const error = await begin();
    error.lease.cancel();
    await error.fail(new StudioError('aborted', 'cancelled'));
    expect([error.late(), error.conclusion()?.kind]).toEqual([0, 'cancelled']);
  });
});

describe('the time of an episode', () => {
  it('runs from its first step with a budget, and is not set anew', async () => {
    const { clock, lease, request, conclusion } = await begin();
    await clock.advance(1000);
    request.onPhase('step', 0, 50);
    await clock.advance(1500);
    request.onPhase('verdict', 4, 500);
    request.onPhase('step', 4, 500);
    expect([lease.stepBudget, lease.facts().stepBudget]).toEqual([50, 50]);
    await clock.advance(3499);
    expect(conclusion()).toBeUndefined();
    await clock.advance(1);
    expect(conclusion()).toEqual({ kind: 'timeout', limitMs: 5000 });
  });

  it('is that of the reset until a step says its budget', async () => {
    const { clock, lease, request, conclusion } = await begin();
    request.onPhase('verdict', 0, 50);
    request.onPhase('step', 0, null);
    expect([lease.stepBudget, lease.facts().stepBudget]).toEqual([null, 70]);
    await clock.advance(2000);
    expect(conclusion()).toEqual({ kind: 'timeout', limitMs: 2000 });
  });
});

describe('the time an episode waited for others in its process', () => {
  it('is not its own: the limit moves by it, as often as it is needed', async () => {
    let waitedMs = 700;
    const { clock, conclusion } = await begin({ waitedForMatesMs: () => waitedMs });
    await clock.advance(1000);
    waitedMs += 500;
    await clock.advance(1499);
    waitedMs += 20;
    await clock.advance(20);
    expect(conclusion()).toBeUndefined();
    await clock.advance(1);
    expect(conclusion()).toEqual({ kind: 'timeout', limitMs: 2000 });
  });

  it('is not granted where it is next to nothing, or was before the lease', async () => {
    let waitedMs = 700;
    const { clock, conclusion } = await begin({ waitedForMatesMs: () => waitedMs });
    waitedMs += 19;
    await clock.advance(2000);
    expect(conclusion()).toEqual({ kind: 'timeout', limitMs: 2000 });
  });

  it('in the reset is not granted to its steps', async () => {
    let waitedMs = 0;
    const { clock, request, conclusion } = await begin({ waitedForMatesMs: () => waitedMs });
    await clock.advance(1000);
    waitedMs += 500;
    request.onPhase('step', 0, 50);
    await clock.advance(4999);
    expect(conclusion()).toBeUndefined();
    await clock.advance(1);
    expect(conclusion()).toEqual({ kind: 'timeout', limitMs: 5000 });
  });

  it('leaves no timer when the episode ends meanwhile', async () => {
    let waitedMs = 0;
    const { clock, answer, conclusion } = await begin({ waitedForMatesMs: () => waitedMs });
    waitedMs += 500;
    await clock.advance(2100);
    await answer();
    expect([conclusion()?.kind, clock.pendingTimers]).toEqual(['answer', 1]);
  });
});

describe('a lease shows', () => {
  it('the phase, since when, and the step', async () => {
    const { clock, lease, request } = await begin();
    const startMs = clock.now();
    await clock.advance(10);
    expect([lease.phase, lease.phaseSinceMs, lease.step]).toEqual(['reset', startMs, 0]);
    request.onPhase('step', 0, 100);
    await clock.advance(10);
    request.onPhase('step', 1, 100);
    expect([lease.phase, lease.phaseSinceMs, lease.step]).toEqual(['step', startMs + 10, 1]);
  });

  it('nothing of what its runner tells after it was ended', async () => {
    const { clock, lease, request } = await begin();
    request.onPhase('step', 3, 100);
    const startMs = clock.now();
    lease.cancel();
    await clock.advance(10);
    request.onPhase('verdict', 4, 100);
    expect([lease.phase, lease.phaseSinceMs, lease.step]).toEqual(['step', startMs, 3]);
  });

  it('the episode the environment chose', async () => {
    const { lease, request } = await begin();
    expect(lease.episodeId).toBeNull();
    request.onChosen?.({ episodeId: 'e7', sceneId: 's1', instruction: 'go' });
    expect(lease.episodeId).toBe('e7');
    expect(lease.facts()).toMatchObject({ episodeId: 'e7', sceneId: 's1', instruction: 'go' });
  });

  it('what its row is about', async () => {
    const { clock, lease, request } = await begin();
    const startedAtMs = clock.now();
    await clock.advance(40);
    request.onPhase('step', 2, 100);
    expect(lease.facts()).toEqual({
      episode: request.episode,
      token: { attempt: 2, epoch: 3 },
      worker: 1,
      replica: 'fake#0',
      startedAtMs,
      durationMs: 40,
      steps: 2,
      stepBudget: 100,
      episodeId: null,
      sceneId: null,
      instruction: null,
    });
  });

  it('no replica where the worker needs no process', async () => {
    const { lease } = await begin({ instances: [] });
    expect(lease.facts().replica).toBeNull();
  });
});

describe('the recording of an attempt that was ended', () => {
  const recordingOf = (lease: Lease): { kept: () => string | undefined } => {
    let kept: string | undefined;
    void lease.recordingOnceEnded().then((value) => (kept = value));
    return { kept: () => kept };
  };

  it('is none when nothing was recorded', async () => {
    const { clock, lease } = await begin();
    lease.cancel();
    const { kept } = recordingOf(lease);
    await clock.advance(0);
    expect(kept()).toBe('none');
  });

  it('is asked for once the runner has come back, and no timer stays', async () => {
    const { clock, lease, request, fail } = await begin();
    request.onRecording?.(() => Promise.resolve('kept'));
    lease.cancel();
    const { kept } = recordingOf(lease);
    await clock.advance(999);
    expect(kept()).toBeUndefined();
    await fail(new StudioError('aborted', 'cancelled'));
    expect([kept(), clock.pendingTimers]).toEqual(['kept', 1]);
  });

  it('is asked for after a second when the runner does not come back', async () => {
    const { clock, lease, request } = await begin();
    request.onRecording?.(() => Promise.resolve('failed'));
    lease.cancel();
    const { kept } = recordingOf(lease);
    await clock.advance(999);
    expect(kept()).toBeUndefined();
    await clock.advance(1);
    expect(kept()).toBe('failed');
  });
});
