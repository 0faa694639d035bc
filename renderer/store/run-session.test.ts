// Snapshots and events that cross on the way, and a window that misses events.
import { describe, expect, it } from 'vitest';
import type { EventMessage } from '#contract/api.ts';
import type { EpisodeRow, RunStatus } from '#contract/run.ts';
import type { Client } from '../api/client.ts';
import { errorInfoOf, RequestError } from '../api/request-error.ts';
import { RunSession } from './run-session.ts';

function rowOf(ordinal: number, status: EpisodeRow['status']): EpisodeRow {
  return {
    ordinal,
    key: `k${ordinal}`,
    episodeIndex: ordinal,
    episodeId: null,
    sceneId: null,
    instruction: null,
    repeat: 0,
    status,
    attempts: status === 'pending' ? 0 : 1,
    metrics: {},
    steps: null,
    durationMs: null,
    worker: null,
    limit: null,
    errorCode: null,
    errorMessage: null,
    retried: false,
  };
}

const rowsEvent = (sequence: number, rows: EpisodeRow[]): EventMessage => ({
  sequence,
  name: 'run.episodes',
  payload: { runId: 'r', rows },
});

/** Draws at once: what a frame would do. */
const atOnce = (work: () => void): (() => void) => {
  queueMicrotask(work);
  return () => undefined;
};

function clientOf(rows: readonly EpisodeRow[], onPage: (offset: number) => void = () => undefined): Client {
  return {
    request: (async (name: string, input: { offset?: number; limit?: number }) => {
      if (name !== 'runs.episodes') throw new RequestError(errorInfoOf('not_found', 'No such run.'));
      const offset = input.offset ?? 0;
      onPage(offset);
      const page = rows.slice(offset, offset + (input.limit ?? 0));
      await Promise.resolve();
      return { rows: page, total: rows.length };
    }) as Client['request'],
    transport: undefined as unknown as Client['transport'],
  };
}

/** A client whose questions for the record are answered when the test says so. */
function controlledClient() {
  const answers: ((status: RunStatus) => void)[] = [];
  const request = (name: string): Promise<unknown> => {
    if (name === 'runs.episodes') return Promise.resolve({ rows: [], total: 0 });
    if (name === 'runs.live') return Promise.resolve(null);
    return new Promise((resolve) =>
      answers.push((status) => resolve({ record: { runId: 'r', status }, folder: '', summary: null })),
    );
  };
  const client: Client = {
    request: request as Client['request'],
    transport: undefined as unknown as Client['transport'],
  };
  return { client, answers };
}

const changedEvent = (sequence: number, status: RunStatus): EventMessage =>
  ({ sequence, name: 'run.changed', payload: { item: { runId: 'r', status } } }) as EventMessage;

describe('RunSession', () => {
  it('loads all pages and keeps what an event told while a page was on its way', async () => {
    const rows = Array.from({ length: 2500 }, (_unused, ordinal) => rowOf(ordinal, 'pending'));
    const session: RunSession = new RunSession(
      'r',
      clientOf(rows, (offset) => {
        if (offset === 1000) session.apply(rowsEvent(1, [rowOf(1500, 'completed')]));
      }),
      atOnce,
    );
    await session.refresh();
    await Promise.resolve();
    expect(session.index.size).toBe(2500);
    expect(session.getState().rows).toEqual({ loaded: 2500, total: 2500 });
    expect(session.index.get(1500)?.status).toBe('completed');
    expect(session.index.countOf('pending')).toBe(2499);
  });

  it('takes the newer page after events were missed', async () => {
    const rows = [rowOf(0, 'running'), rowOf(1, 'pending')];
    const session = new RunSession('r', clientOf(rows), atOnce);
    await session.refresh();
    session.apply(rowsEvent(4, [rowOf(0, 'error')]));
    rows[0] = rowOf(0, 'completed');
    rows[1] = rowOf(1, 'completed');
    await session.refresh();
    expect(session.index.countOf('completed')).toBe(2);
  });

  it('asks again when the run changed while its record was on its way', async () => {
    const { client, answers } = controlledClient();
    const session = new RunSession('r', client, atOnce);
    const refreshed = session.refresh();
    session.apply(changedEvent(1, 'running'));
    answers.shift()?.('queued');
    await expect.poll(() => answers.length).toBe(1);
    answers.shift()?.('running');
    await refreshed;
    expect(session.getState().status).toBe('running');
  });

  it('does not take an answer that is older than one it has', async () => {
    const { client, answers } = controlledClient();
    const session = new RunSession('r', client, atOnce);
    const [older, newer] = [session.refresh(), session.refresh()];
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.('completed');
    await newer;
    answers[0]?.('running');
    await older;
    expect(session.getState().status).toBe('completed');
  });

  it('keeps the reason when the run cannot be read', async () => {
    const session = new RunSession('r', clientOf([]), atOnce);
    await session.refresh();
    expect(session.getState().error).toMatchObject({ code: 'not_found', message: 'No such run.' });
  });

  it('tells its listeners once per frame', async () => {
    const session = new RunSession('r', clientOf([]), atOnce);
    let calls = 0;
    session.subscribe(() => (calls += 1));
    for (let ordinal = 0; ordinal < 50; ordinal += 1)
      session.apply(rowsEvent(ordinal, [rowOf(ordinal, 'completed')]));
    await Promise.resolve();
    expect(calls).toBe(1);
    expect(session.index.length).toBe(50);
  });
});
