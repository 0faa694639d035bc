// An engine that will be killed: resumes what is interrupted, then starts one more run, and tells its parent of every
// row that the engine told its clients, which it does only once the row is on disk.
import process from 'node:process';
import type { Studio, StudioOptions } from '../../main/studio.ts';
import type { RequestInput, RequestName, RequestOutput } from '../../main/contract/api.ts';
import type { ToldByChild } from './engine-process.ts';

const [workspace = '', configText = '', module = ''] = process.argv.slice(2);
const { createStudio } = (await import(module)) as {
  createStudio: (options: StudioOptions) => Promise<Studio>;
};
const tell = (message: ToldByChild): void => void process.send?.(message);
const studio = await createStudio({ host: 'cli', workspace, trust: [workspace] });
const ends = new Map<string, (status: string) => void>();
studio.feed.subscribe((message) => {
  if (message.name === 'run.episodes') {
    const { runId, rows } = message.payload;
    const done = rows.filter(({ status }) => status !== 'running' && status !== 'pending');
    if (done.length > 0) tell({ kind: 'rows', runId, ordinals: done.map(({ ordinal }) => ordinal) });
  }
  if (message.name === 'run.finished') ends.get(message.payload.runId)?.(message.payload.status);
});

async function ask<Name extends RequestName>(
  name: Name,
  input: RequestInput<Name>,
): Promise<RequestOutput<Name>> {
  const reply = await studio.dispatcher.dispatch(name, input);
  if (!reply.ok) throw new Error(`${name}: ${reply.error.code}: ${reply.error.message}`);
  return reply.value as RequestOutput<Name>;
}

async function whenIdle(): Promise<void> {
  while ((await ask('guard.get', {})).holder !== null) await new Promise((resolve) => setTimeout(resolve, 2));
}

async function toTheEnd(runId: string, begin: () => Promise<unknown>): Promise<string> {
  const ended = new Promise<string>((resolve) => ends.set(runId, resolve));
  await begin();
  return ended;
}

const { rows } = await ask('runs.list', { statuses: ['interrupted', 'paused'] });
for (const { runId } of rows) {
  tell({ kind: 'resuming', runId });
  const status = await toTheEnd(runId, () => ask('runs.resume', { runId })).catch((error: unknown) =>
    String(error),
  );
  tell({ kind: 'resumed', runId, status });
  await whenIdle();
}
if (configText !== '') {
  const { runId } = await ask('runs.start', { config: JSON.parse(configText) as { graph: string } });
  tell({ kind: 'started', runId });
  await new Promise<string>((resolve) => ends.set(runId, resolve));
  await whenIdle();
  tell({ kind: 'finished', runId });
}
await studio[Symbol.asyncDispose]();
process.disconnect?.();
