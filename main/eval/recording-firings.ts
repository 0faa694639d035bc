// Hot path of recording: one line of JSON per firing, and the facts of the whole episode that are known on the way:
// which nodes fired, where the agent went, what the environment says about its map.
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import type { FiringEnd, FiringStart } from '../graph/listener.ts';
import type { PortValues } from '../graph/ports.ts';
import { recordingFiles, type ReplayHeader } from '../store/recording-format.ts';
import type { RecordingScratch } from './recording-scratch.ts';
import { ValueSummariser } from './recording-values.ts';

type NodeFacts = { nodeType: string; path: string; firings: number; totalMs: number };
type TrackPoint = [step: number, x: number, y: number, heading: number | null];

const longestTrack = 5000;
const largestMapCharacters = 2 ** 20;
const newline = '\n';

export class FiringLog {
  readonly #scratch: RecordingScratch;
  readonly #clock: Clock;
  readonly #redact: (text: string) => string;
  readonly #startedMs: number;
  readonly #values: ValueSummariser;
  readonly #nodes = new Map<string, NodeFacts>();
  readonly #open = new Map<string, { readonly start: FiringStart; readonly startedMs: number }>();
  #track: TrackPoint[] = [];
  #every = 1;
  #map: Record<string, unknown> | null = null;
  #lines = 0;
  #steps = 0;

  constructor(scratch: RecordingScratch, clock: Clock, redact = (text: string): string => text) {
    this.#redact = redact;
    this.#scratch = scratch;
    this.#clock = clock;
    this.#startedMs = clock.monotonic();
    this.#values = new ValueSummariser((bytes) => scratch.append(recordingFiles.blobs, bytes), redact);
  }

  get lines(): number {
    return this.#lines;
  }

  /** A firing that begins; `add` ends it. */
  begin(start: FiringStart): void {
    this.#open.set(start.path, { start, startedMs: this.#clock.monotonic() });
  }

  /** Firings that never ended, as what they are: usually the one an episode hung or died in. */
  addOpen(reason: string): void {
    const error = new StudioError('node_failed', reason);
    for (const { start, startedMs } of this.#open.values()) {
      const durationMs = this.#clock.monotonic() - startedMs;
      this.add({ ...start, outputs: null, error, durationMs, log: [] });
    }
  }

  add(firing: FiringEnd): void {
    this.#open.delete(firing.path);
    const { nodeId, nodeType, path, step, phase, durationMs, error, inputs, outputs, log } = firing;
    this.#count(firing);
    const line = {
      step,
      node: nodeId,
      type: nodeType,
      ...(path === nodeId ? {} : { path }),
      phase,
      at: round(this.#clock.monotonic() - this.#startedMs),
      ms: round(durationMs),
      ...(error ? { error: this.#redact(error.message) } : {}),
      in: this.#summarised(inputs),
      ...(outputs ? { out: this.#summarised(outputs) } : {}),
      ...(log.length > 0
        ? { log: log.map(([key, value]) => [this.#redact(key), this.#values.summarise(value)]) }
        : {}),
    };
    if (this.#scratch.appendText(recordingFiles.log, JSON.stringify(line) + newline) !== null) this.#lines++;
  }

  facts(): Pick<ReplayHeader, 'steps' | 'lines' | 'nodes' | 'track' | 'map'> {
    return {
      steps: this.#steps,
      lines: this.#lines,
      nodes: [...this.#nodes].map(([nodeId, facts]) => ({
        nodeId,
        ...facts,
        totalMs: round(facts.totalMs),
      })),
      track: this.#track,
      map: this.#map,
    };
  }

  #summarised(values: PortValues): Record<string, unknown> {
    const summary: Record<string, unknown> = {};
    for (const name in values) summary[name] = this.#values.summarise(values[name]);
    return summary;
  }

  #count({ nodeId, nodeType, path, step, durationMs, outputs }: FiringEnd): void {
    const facts = this.#nodes.get(nodeId);
    if (facts) {
      facts.firings++;
      facts.totalMs += durationMs;
    } else this.#nodes.set(nodeId, { nodeType, path, firings: 1, totalMs: durationMs });
    this.#steps = Math.max(this.#steps, step + 1);
    if (!outputs) return;
    const position = positionIn(outputs);
    if (position) this.#follow(step, position);
    for (const name in outputs) if (isMap(outputs[name])) this.#keepMap(outputs[name]);
  }

  /** Thinned by halves, so that a long episode keeps its whole path. */
  #follow(step: number, { x, y, heading }: Position): void {
    if (step % this.#every !== 0) return;
    this.#track.push([step, x, y, heading]);
    if (this.#track.length <= longestTrack) return;
    this.#every *= 2;
    this.#track = this.#track.filter(([at]) => at % this.#every === 0);
  }

  #keepMap(map: Record<string, unknown>): void {
    try {
      const text = this.#redact(JSON.stringify(map));
      if (text.length <= largestMapCharacters) this.#map = JSON.parse(text) as Record<string, unknown>;
    } catch {
      // A map that is no plain data is not drawn; its values are in the log all the same.
    }
  }
}

interface Position {
  readonly x: number;
  readonly y: number;
  readonly heading: number | null;
}

/** A pose by the convention of the POSE wire: `position`, and `orientation` as a quaternion (x, y, z, w). */
function positionIn(outputs: PortValues): Position | null {
  const { pose } = outputs;
  if (typeof pose !== 'object' || pose === null || !('position' in pose)) return null;
  const [x, y] = numbersOf(pose.position);
  if (x === undefined || y === undefined) return null;
  const [, , qz, qw] = numbersOf('orientation' in pose ? pose.orientation : null);
  return { x, y, heading: qz === undefined || qw === undefined ? null : 2 * Math.atan2(qz, qw) };
}

function numbersOf(value: unknown): readonly number[] {
  if (!Array.isArray(value) && !ArrayBuffer.isView(value)) return [];
  return Array.from(value as unknown as ArrayLike<unknown>, Number);
}

/** What an environment's map node gives: a path to follow, and a place to draw it in or a goal. */
function isMap(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return 'reference_path' in value && ('bounds' in value || 'goal' in value);
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
