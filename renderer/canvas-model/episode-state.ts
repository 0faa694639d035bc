// What the canvas shows of a recorded episode at a cursor: which nodes of the step fired, how often and how long, and
// which of them is the one the cursor is at. Pure.
import type { OpenedRecording, RecordedFiring } from '#contract/replay.ts';
import type { PlayedNode } from '#contract/play.ts';
import { drawnPorts, drawnValueOf, type NodeDetail } from './drawn-value.ts';

/** Nodes of the step after its first `done` firings, in the order they fired. */
export function nodesAfter(
  firings: readonly RecordedFiring[],
  done: number,
): ReadonlyMap<string, PlayedNode> {
  const nodes = new Map<string, PlayedNode>();
  const shown = firings.slice(0, done);
  for (const firing of shown) {
    const before = nodes.get(firing.nodeId);
    nodes.set(firing.nodeId, {
      nodeId: firing.nodeId,
      path: firing.path,
      isFiring: false,
      firings: (before?.firings ?? 0) + 1,
      step: firing.step,
      lastMs: firing.durationMs,
      totalMs: (before?.totalMs ?? 0) + firing.durationMs,
      error: firing.error,
      hasLog: firing.log.length > 0,
    });
  }
  const current = shown.at(-1);
  const node = current && nodes.get(current.nodeId);
  if (node) nodes.set(node.nodeId, { ...node, isFiring: true });
  return nodes;
}

/** One firing in full; the node's numbers are those of the whole episode. */
export function detailOf(firing: RecordedFiring, nodes: OpenedRecording['nodes']): NodeDetail {
  const totals = nodes.find(({ nodeId }) => nodeId === firing.nodeId);
  return {
    node: {
      nodeId: firing.nodeId,
      path: firing.path,
      isFiring: false,
      firings: totals?.firings ?? 1,
      step: firing.step,
      lastMs: firing.durationMs,
      totalMs: totals?.totalMs ?? firing.durationMs,
      error: firing.error,
      hasLog: firing.log.length > 0,
    },
    inputs: drawnPorts(firing.inputs),
    outputs: drawnPorts(firing.outputs),
    log: firing.log.map(({ key, value }) => ({ key, value: drawnValueOf(value) })),
  };
}
