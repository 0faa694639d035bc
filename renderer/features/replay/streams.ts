// Which of a recording's pictures to show: the camera that moves, not a copy of it that passes through other nodes. Pure.
import type { OpenedRecording, RecordedStep } from '#contract/replay.ts';

type Streams = OpenedRecording['streams'];
type Nodes = OpenedRecording['nodes'];

const passesThrough = /^(iterIn|iterOut|.*[Vv]iewer)$/;

/** The node that made pictures most often; colour before depth. -1 without any picture. */
export function preferredStream(streams: Streams, nodes: Nodes): number {
  let best = -1;
  let bestScore = -1;
  for (const [at, stream] of streams.entries()) {
    const node = nodes.find((candidate) => candidate.nodeId === stream.nodeId);
    const isCopy = node !== undefined && passesThrough.test(node.nodeType);
    const score = (node?.firings ?? 0) + 1 - (stream.isDepth ? 0.5 : 0);
    const weighed = isCopy ? 0 : score;
    if (weighed > bestScore) {
      best = at;
      bestScore = weighed;
    }
  }
  return best;
}

/** The stream of the same name in another recording, so that two are seen through the same eye. */
export function sameStream(streams: Streams, wanted: Streams[number] | undefined): number {
  if (!wanted) return -1;
  return streams.findIndex((stream) => stream.nodeId === wanted.nodeId && stream.port === wanted.port);
}

export const streamLabel = (stream: Streams[number]): string =>
  `${stream.nodeId}.${stream.port}${stream.isDepth ? ' (depth)' : ''}`;

const furthestBack = 200;

/** What a stream shows at a step: its picture, else the last one before. */
export function pictureAt(
  stepAt: (step: number) => RecordedStep | undefined,
  step: number,
  stream: number,
): RecordedStep['images'][number] | null {
  for (let at = step; at >= Math.max(0, step - furthestBack); at -= 1) {
    const picture = stepAt(at)?.images.find((image) => image.stream === stream);
    if (picture) return picture;
  }
  return null;
}
