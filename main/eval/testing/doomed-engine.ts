// An engine of its own, for a test that kills it: runs one evaluation in the given workspace and tells what it does.
import { evalConfig } from '../../contract/eval-config.ts';
import { openLiveBench } from './live-bench.ts';

const [, , folder = '', cacheFolder = '', configText = '{}'] = process.argv;

await using bench = await openLiveBench(folder, {
  cacheFolder,
  withLibrary: false,
  events: {
    publish(name, payload) {
      if (name === 'run.live') process.send?.({ name, payload });
    },
  },
});
const { runId } = await bench.service.start({
  config: evalConfig.parse(JSON.parse(configText)),
  whenBusy: 'refuse',
});
process.send?.({ name: 'started', payload: { runId } });
await bench.service.whenEnded(runId);
