// What each worker's environment shows now. Costs a reference per step: a picture is encoded only when somebody asks,
// at most twice a second per worker.
import type { Clock } from '../base/clock.ts';
import type { Tensor } from '../base/tensor.ts';
import type { FiringEnd, ViewerEvent } from '../graph/listener.ts';
import type { PortValues } from '../graph/ports.ts';
import { encodePicture, pictureOf } from '../store/tensor-image.ts';
import { tensorOf } from './recording-values.ts';

export interface LiveFrame {
  readonly mimeType: string;
  readonly base64: string;
  readonly step: number;
}

const everyMs = 500;

interface WorkerFrame {
  tensor: Tensor | null;
  step: number;
  /** Node whose picture is shown. */
  source: string;
  fromViewer: boolean;
  encoded: LiveFrame | null;
  encodedAtMs: number;
  encodedTensor: Tensor | null;
}

export class LiveFrames {
  readonly #clock: Clock;
  readonly #frames = new Map<string, WorkerFrame>();
  /** One run at a time: pictures of the one before are let go. */
  #runId = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A new episode begins: its first picture decides which node is shown. */
  begin(runId: string, worker: number): WorkerFeed {
    if (runId !== this.#runId) this.#frames.clear();
    this.#runId = runId;
    const key = `${runId} ${worker}`;
    const known = this.#frames.get(key);
    const frame: WorkerFrame = {
      tensor: known?.tensor ?? null,
      step: 0,
      source: '',
      fromViewer: false,
      encoded: known?.encoded ?? null,
      encodedAtMs: known?.encodedAtMs ?? -Infinity,
      encodedTensor: known?.encodedTensor ?? null,
    };
    this.#frames.set(key, frame);
    return {
      onFiring: (firing) => {
        if (!frame.fromViewer && firing.outputs) show(frame, firing.nodeId, firing.step, firing.outputs);
      },
      onViewer: (event) => {
        if (!frame.fromViewer) frame.source = '';
        if (show(frame, event.nodeId, event.step, event.fields)) frame.fromViewer = true;
      },
    };
  }

  /** Null while there is no picture. */
  frame(runId: string, worker: number): LiveFrame | null {
    const frame = this.#frames.get(`${runId} ${worker}`);
    if (!frame?.tensor) return null;
    const nowMs = this.#clock.monotonic();
    const isFresh = nowMs - frame.encodedAtMs < everyMs || frame.encodedTensor === frame.tensor;
    if (frame.encoded && isFresh) return frame.encoded;
    const picture = pictureOf(frame.tensor);
    if (!picture) return null;
    const { png } = encodePicture(frame.tensor, picture);
    frame.encoded = { mimeType: 'image/png', base64: png.toString('base64'), step: frame.step };
    frame.encodedAtMs = nowMs;
    frame.encodedTensor = frame.tensor;
    return frame.encoded;
  }
}

export interface WorkerFeed {
  onFiring(firing: Pick<FiringEnd, 'nodeId' | 'step' | 'outputs'>): void;
  onViewer(event: Pick<ViewerEvent, 'nodeId' | 'step' | 'fields'>): void;
}

/** Colour before depth; only from the node that is shown. */
function show(frame: WorkerFrame, nodeId: string, step: number, values: PortValues): boolean {
  if (frame.source !== '' && frame.source !== nodeId) return false;
  for (const name in values) {
    const value = values[name];
    if (typeof value !== 'object' || value === null) continue;
    const tensor = tensorOf(value);
    if (!tensor || tensor.dtype !== 'uint8' || !pictureOf(tensor)) continue;
    frame.tensor = tensor;
    frame.step = step;
    frame.source = nodeId;
    return true;
  }
  return false;
}
