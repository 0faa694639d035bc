// Requests of the canvas: saving edited graphs without loss, and Play.
import { StudioError } from './base/errors.ts';
import type { RequestOutput } from './contract/api.ts';
import type { GraphDefinition } from './contract/graph.ts';
import type { ShownValue } from './contract/play.ts';
import type { Handlers } from './dispatch.ts';
import { shownValueOf } from './eval/play-shown.ts';
import { refuseUntrustedHooks } from './code-trust.ts';
import { newGraphText, saveGraph } from './graph/edit.ts';
import type { PortValues } from './graph/ports.ts';
import type { HandlerServices } from './request-handlers.ts';

type CanvasRequests = Extract<keyof Handlers, `play.${string}` | `panel.${string}`>;
type SaveRequests = 'graphs.saveEdited' | 'graphs.saveCopy';
/** Of a viewer that keeps every value: more than this in one reply is read in several. */
const entriesPerReply = 200;

export function createPlayHandlers(services: HandlerServices): Pick<Handlers, CanvasRequests> {
  const { access, play } = services;
  const refuseUntrusted = (definition: GraphDefinition, ref: string | null): Promise<void> => {
    const file = ref === null || ref.startsWith('library:') ? access.workspace.graphsFolder : ref;
    return refuseUntrustedHooks(definition, file, access.trust);
  };
  return {
    'play.state': async () => ({ view: play.view, nodes: [...play.nodes] }),
    'play.prepare': async ({ definition, graph }) => play.prepare(definition, graph),
    'play.start': async (request) => {
      await refuseUntrusted(request.definition, request.graph.ref);
      return play.start(request);
    },
    'play.pause': async () => play.pause(),
    'play.resume': async () => play.resume(),
    'play.step': async ({ unit }) => play.step(unit),
    'play.stop': async ({ now }) => play.stop(now),
    'play.restore': async ({ step }) => play.restore(step),
    'play.delay': async ({ stepDelayMs }) => play.setDelay(stepDelayMs),
    'play.release': async () => play.release(),
    'play.node': async ({ nodeId }) => nodeDetail(services, nodeId),
    'play.viewers': async ({ known }) => viewerFrames(services, known),
    'panel.field': async ({ nodeset, name, value }, signal) => play.changeField(nodeset, name, value, signal),
    'panel.action': async ({ nodeset, name }, signal) => play.act(nodeset, name, signal),
    'panel.options': async ({ nodeset, name }, signal) => ({
      options: [...(await play.options(nodeset, name, signal))],
    }),
  };
}

async function nodeDetail({ play }: HandlerServices, nodeId: string): Promise<RequestOutput<'play.node'>> {
  const last = play.watch.lastFiring(nodeId);
  if (!last) return null;
  const { node, firing } = last;
  const log = firing.log
    .slice(0, 40)
    .map(async ([key, value]) => ({ key, value: await shownValueOf(value) }));
  return {
    node,
    inputs: await shownPorts(firing.inputs),
    outputs: await shownPorts(firing.outputs ?? {}),
    log: await Promise.all(log),
  };
}

async function viewerFrames(
  { play }: HandlerServices,
  known: Readonly<Record<string, number>>,
): Promise<RequestOutput<'play.viewers'>> {
  const { executionId } = play.view;
  const frames = [...play.watch.viewers].flatMap(([nodeId, viewer]) => {
    const from = known[nodeId] ?? 0;
    const entries = viewer.entries.filter((entry) => entry.version > from).slice(0, entriesPerReply);
    const first = entries[0];
    if (!first) return [];
    const isCloud = viewer.nodeType === 'pointCloudViewer';
    return [
      {
        nodeId,
        nodeType: viewer.nodeType,
        version: entries.at(-1)?.version ?? viewer.version,
        dropped: first.version - from - 1,
        entries: entries.map(async ({ step, fields }) => ({
          step,
          fields: await shownPorts(fields, isCloud),
        })),
      },
    ];
  });
  const drawn = frames.map(async (frame) => ({ ...frame, entries: await Promise.all(frame.entries) }));
  return { executionId, frames: await Promise.all(drawn) };
}

async function shownPorts(
  values: PortValues,
  asPoints = false,
): Promise<{ readonly port: string; readonly value: ShownValue }[]> {
  const options = asPoints ? { points: 30_000 } : {};
  return await Promise.all(
    Object.entries(values).map(async ([port, value]) => ({
      port,
      value: await shownValueOf(value, options),
    })),
  );
}

export function createSaveHandlers(
  { graphs, library, feed }: HandlerServices,
  writable: () => void,
): Pick<Handlers, SaveRequests> {
  const told = (ref: string, text: string): RequestOutput<'graphs.saveEdited'> => {
    feed.publish('graphs.changed', {});
    return { ref, text, diagnostics: [...graphs.validate(graphs.parse(text))] };
  };
  return {
    'graphs.saveEdited': async ({ ref, originalText, definition, overwrite }) => {
      writable();
      const { text: before } = await library.load(ref);
      if (before !== originalText && !overwrite) {
        throw new StudioError(
          'conflict',
          'The file was changed by somebody else since it was opened. Open it again, save a copy, or overwrite it.',
        );
      }
      const text = saveGraph(originalText, withNegativeZeros(graphs.parse(originalText), definition));
      const file = await library.save(ref, text);
      return told(file.ref, text);
    },
    'graphs.saveCopy': async ({ name, originalText, definition }) => {
      writable();
      const text =
        originalText === null
          ? newGraphText(definition)
          : saveGraph(originalText, withNegativeZeros(graphs.parse(originalText), definition));
      const file = await library.add(name, text);
      return told(file.ref, text);
    },
  };
}

/** JSON between window and engine has no -0: where the file has one and nothing else was written, it stays. */
function withNegativeZeros<Value>(before: unknown, after: Value): Value {
  return restored(before, after) as Value;
}

function restored(before: unknown, after: unknown): unknown {
  if (after === 0 && Object.is(before, -0)) return before;
  if (typeof after !== 'object' || after === null || typeof before !== 'object' || before === null)
    return after;
  for (const [key, value] of Object.entries(after)) {
    const old: unknown = Object.getOwnPropertyDescriptor(before, key)?.value;
    const kept = restored(old, value);
    if (!Object.is(kept, value)) Object.assign(after, { [key]: kept });
  }
  return after;
}
