// The queue of runs as a file in the workspace. One that does not parse is kept aside and an empty queue is used; the
// runs themselves are in their folders, so nothing is lost but the order.
import { z } from 'zod';
import type { Logger } from '../base/logger.ts';
import { atomicWrite } from '../store/atomic-write.ts';
import type { FileSystemPort } from '../store/ports.ts';
import type { QueueStorage } from './ports.ts';

const queueFile = z.strictObject({ format_version: z.literal(1), run_ids: z.array(z.string()) });

export function createQueueFile(fileSystem: FileSystemPort, path: string, logger: Logger): QueueStorage {
  return {
    async read() {
      const stat = await fileSystem.stat(path);
      if (!stat) return [];
      const parsed = queueFile.safeParse(parseJson(await fileSystem.readFile(path)));
      if (parsed.success) return parsed.data.run_ids;
      logger.warn('the queue of runs could not be read and was put aside', { path });
      await fileSystem.rename(path, `${path}.unreadable`);
      return [];
    },
    async write(runIds) {
      const content: z.input<typeof queueFile> = { format_version: 1, run_ids: [...runIds] };
      await atomicWrite(fileSystem, path, `${JSON.stringify(content, null, 2)}\n`);
    },
  };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
