// The feed as a renderer sees it: thin, numbered, bounded, honest about gaps.
import { expect, it } from 'vitest';
import { createFakeClock } from './base/fake-clock.ts';
import { EventFeed } from './event-feed.ts';
import type { EventMessage } from './contract/api.ts';
import type { EpisodeRow } from './contract/run.ts';

const row = (ordinal: number, status: EpisodeRow['status']): EpisodeRow => ({
  ordinal,
  key: `${ordinal}`,
  episodeIndex: ordinal,
  episodeId: null,
  sceneId: null,
  instruction: null,
  repeat: 0,
  status,
  attempts: 1,
  metrics: {},
  steps: null,
  durationMs: null,
  worker: null,
  limit: null,
  errorCode: null,
  errorMessage: null,
  retried: false,
});

it('sends a thousand row changes of a tenth of a second as one message with the last state of each row', async () => {
  const clock = createFakeClock();
  using feed = new EventFeed(clock);
  const seen: EventMessage[] = [];
  feed.subscribe((message) => seen.push(message));
  for (let index = 0; index < 1000; index++) {
    feed.publish('run.episodes', {
      runId: 'r',
      rows: [row(index % 10, index < 990 ? 'running' : 'completed')],
    });
  }
  expect(seen).toEqual([]);
  await clock.advance(100);
  expect(seen).toHaveLength(1);
  expect(seen[0]?.payload).toMatchObject({
    rows: Array.from({ length: 10 }, () => ({ status: 'completed' })),
  });
});

it('keeps order: what waits goes out before an event that does not wait', async () => {
  const clock = createFakeClock();
  using feed = new EventFeed(clock);
  const names: string[] = [];
  feed.subscribe((message) => names.push(`${message.sequence} ${message.name}`));
  feed.publish('run.stage', { runId: 'r', stage: 'running', elapsedMs: 1 });
  feed.publish('run.deleted', { runId: 'r' });
  expect(names).toEqual(['1 run.stage', '2 run.deleted']);
});

it('answers what came after a number, nothing when nothing did, and null when messages are missing', () => {
  using feed = new EventFeed(createFakeClock());
  expect(feed.since(0)).toEqual([]);
  for (let index = 0; index < 1500; index++) feed.publish('run.deleted', { runId: `${index}` });
  expect(feed.since(1500)).toEqual([]);
  expect(feed.since(1498)?.map((message) => message.sequence)).toEqual([1499, 1500]);
  expect(feed.since(500)?.length).toBe(1000);
  expect(feed.since(499)).toBeNull();
  expect(feed.since(9999)).toBeNull();
});

it('keeps no more rows than a client that was away for a moment needs', async () => {
  const clock = createFakeClock();
  using feed = new EventFeed(clock);
  for (let index = 0; index < 200; index++) {
    feed.publish('run.episodes', {
      runId: 'r',
      rows: Array.from({ length: 100 }, (_item, at) => row(at, 'completed')),
    });
    await clock.advance(100);
  }
  expect(feed.since(150)?.map((message) => message.sequence)).toHaveLength(50);
  expect(feed.since(149)).toBeNull();
});

it('a listener that fails takes nothing from the others, nor from whoever publishes', () => {
  using feed = new EventFeed(createFakeClock());
  const seen: string[] = [];
  feed.subscribe(() => {
    throw new Error('gone');
  });
  feed.subscribe((message) => seen.push(message.name));
  feed.publish('run.deleted', { runId: 'r' });
  expect(seen).toEqual(['run.deleted']);
});
