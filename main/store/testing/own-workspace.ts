// Child of the lock test: takes the workspace whose cache folder is the argument, says so, and stays.
import { nodeFileSystem } from '../node-file-system.ts';
import { acquireWorkspaceLock } from '../workspace-lock.ts';

const [folder = ''] = process.argv.slice(2);
const outcome = await acquireWorkspaceLock({ fileSystem: nodeFileSystem, folder, now: () => Date.now() });
if (outcome.kind === 'owned') await outcome.lock.announce('/run/some.sock');
process.stdout.write(`${outcome.kind}\n`);
process.stdin.resume();
