// A reader that went away (`| head`, a closed terminal) ends what is written to it and nothing else: a run is worth more
// than its progress on a screen.
import process from 'node:process';
import type { OutputStreams } from './output.ts';

const gone: ReadonlySet<string> = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']);

/** `onLoss` is told once when something else kept output from being written, such as a full disk behind a redirect. */
export function outliveReaders(
  { stdout, stderr }: OutputStreams,
  onLoss: (error: Error) => void,
): Disposable {
  let isTold = false;
  const onError = (error: NodeJS.ErrnoException): void => {
    if (isTold || gone.has(error.code ?? '')) return;
    isTold = true;
    onLoss(error);
  };
  for (const stream of [stdout, stderr]) stream.on('error', onError);
  return {
    [Symbol.dispose]() {
      // Both streams stay guarded until the process ends where they are its own: what was buffered may still fail.
      if (stdout === process.stdout) return;
      for (const stream of [stdout, stderr]) stream.off('error', onError);
    },
  };
}
