// Child of the kill test: appends rows to a run, several at a time, and prints each ordinal once its row is durable.
// Arguments: folder of the store, run id.
import { openSampleStore, rowOf } from './sample-store.ts';

const [folder = '', runId = ''] = process.argv.slice(2);
const store = await openSampleStore(folder);
const run = await store.open(runId);
await run.update({ status: 'running' });
const queue = [...run.missing()];

async function work(): Promise<void> {
  for (let episode = queue.shift(); episode; episode = queue.shift()) {
    const { attempt, epoch } = run.beginAttempt(episode.ordinal);
    await run.append(rowOf(episode, { attempt, epoch, instruction: 'x'.repeat(500) }));
    process.stdout.write(`${episode.ordinal}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, work));
process.stdout.write('done\n');
