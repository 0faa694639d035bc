// A recording as a video, made here: frames are drawn on a canvas at the pace of the player and taken by the browser's
// own recorder. Two recordings stand side by side.
import { assetUrl } from '../../ui/asset-url.ts';
import { depthFilterId } from './depth-colours.tsx';
import { stepMs } from './playback.ts';
import { fitText, layoutOf, type VideoLayout } from './video-layout.ts';

export interface VideoTrack {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** Drawn in the colours of the page. */
  readonly isDepth: boolean;
  readonly lastStep: number;
  /** Address of the picture and the words of a step. */
  readonly frameAt: (step: number) => Promise<{ readonly address: string | null; readonly words: string }>;
}

export interface VideoOptions {
  readonly tracks: readonly VideoTrack[];
  readonly speed: number;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, of: number) => void;
}

/** Best first; what the browser's recorder can do decides. */
const types = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm', 'video/mp4'];
const bitsPerSecond = 4_000_000;

export function videoType(): string | null {
  if (typeof MediaRecorder === 'undefined') return null;
  return types.find((type) => MediaRecorder.isTypeSupported(type)) ?? null;
}

export async function makeVideo({ tracks, speed, signal, onProgress }: VideoOptions): Promise<Blob> {
  const type = videoType();
  if (type === null) throw new Error('This browser cannot record video. Export the frames instead.');
  const layout = layoutOf(tracks);
  const canvas = document.createElement('canvas');
  canvas.width = layout.width;
  canvas.height = layout.height;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser gives no canvas to draw the video on.');
  const recorder = new MediaRecorder(canvas.captureStream(), {
    mimeType: type,
    videoBitsPerSecond: bitsPerSecond,
  });
  const parts: Blob[] = [];
  recorder.addEventListener('dataavailable', (event) => parts.push(event.data));
  const stopped = new Promise((resolve) => recorder.addEventListener('stop', resolve, { once: true }));
  const lastStep = Math.max(...tracks.map((track) => track.lastStep));
  try {
    await drawStep({ context, layout, tracks, step: 0, signal });
    recorder.start();
    const startMs = performance.now();
    for (let step = 0; step <= lastStep; step += 1) {
      signal.throwIfAborted();
      await drawStep({ context, layout, tracks, step, signal });
      onProgress(step + 1, lastStep + 1);
      await waitUntil(startMs + (step + 1) * stepMs(speed));
    }
  } finally {
    recorder.stop();
  }
  await stopped;
  return new Blob(parts, { type: type.split(';')[0] ?? type });
}

interface DrawnStep {
  readonly context: CanvasRenderingContext2D;
  readonly layout: VideoLayout;
  readonly tracks: readonly VideoTrack[];
  readonly step: number;
  readonly signal: AbortSignal;
}

async function drawStep({ context, layout, tracks, step, signal }: DrawnStep): Promise<void> {
  const frames = await Promise.all(
    tracks.map(async (track) => {
      const { address, words } = await track.frameAt(Math.min(step, track.lastStep));
      return { words, bitmap: address === null ? null : await bitmapOf(address, signal) };
    }),
  );
  context.fillStyle = '#000000';
  context.fillRect(0, 0, layout.width, layout.height);
  context.imageSmoothingEnabled = false;
  for (const [at, box] of layout.boxes.entries()) {
    const frame = frames[at];
    context.filter = tracks[at]?.isDepth ? `url(#${depthFilterId})` : 'none';
    if (frame?.bitmap) context.drawImage(frame.bitmap, box.x, box.y, box.width, box.height);
    context.filter = 'none';
    frame?.bitmap?.close();
    context.textBaseline = 'top';
    const write = (text: string, y: number, colour: string): void => {
      context.fillStyle = colour;
      context.fillText(
        fitText(text, box.width - 12, (part) => context.measureText(part).width),
        box.x + 6,
        y,
      );
    };
    context.font = '600 14px system-ui, sans-serif';
    write(tracks[at]?.title ?? '', 5, '#ffffff');
    context.font = '13px system-ui, sans-serif';
    write(frame?.words ?? '', 24, '#c8ccd4');
  }
}

async function bitmapOf(address: string, signal: AbortSignal): Promise<ImageBitmap | null> {
  const reply = await fetch(assetUrl(address), { signal });
  // A picture that is gone leaves its place black; the words still tell the step.
  return reply.ok ? createImageBitmap(await reply.blob()) : null;
}

const waitUntil = (atMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - performance.now())));
