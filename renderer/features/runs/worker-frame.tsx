// What a worker's environment shows, at most twice a second and only while it is on the screen.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- the picture is drawn from bytes, not loaded from an address */
import { useEffect, useRef, useState } from 'react';
import { useStudio } from '../../store/use-studio.tsx';

const everyMs = 500;

export function WorkerFrame({
  runId,
  worker,
  isBusy,
}: {
  readonly runId: string;
  readonly worker: number;
  readonly isBusy: boolean;
}) {
  const { client } = useStudio();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hasFrame, setHasFrame] = useState(false);
  useEffect(() => {
    const element = canvas.current;
    if (!element || !isBusy) return undefined;
    const controller = new AbortController();
    let isVisible = false;
    let isAsking = false;
    const observer = new IntersectionObserver((entries) => {
      isVisible = entries.some((entry) => entry.isIntersecting);
    });
    observer.observe(element);
    const ask = async (): Promise<void> => {
      if (!isVisible || document.hidden || isAsking) return;
      isAsking = true;
      try {
        const frame = await client.request('runs.frame', { runId, worker }, controller.signal);
        if (frame) {
          await draw(element, frame);
          setHasFrame(true);
        }
      } catch {
        // No picture now: the lane says everything else, and the next try comes soon.
      } finally {
        isAsking = false;
      }
    };
    const timer = setInterval(() => void ask(), everyMs);
    return () => {
      clearInterval(timer);
      observer.disconnect();
      controller.abort();
    };
  }, [client, runId, worker, isBusy]);
  return (
    <canvas
      ref={canvas}
      className={hasFrame ? 'frame' : 'frame none'}
      width={96}
      height={72}
      role="img"
      aria-label={hasFrame ? `What worker ${worker} sees` : `Worker ${worker} shows no picture`}
    />
  );
}

async function draw(
  canvas: HTMLCanvasElement,
  frame: { readonly mimeType: string; readonly base64: string },
): Promise<void> {
  const bytes = Uint8Array.from(atob(frame.base64), (character) => character.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: frame.mimeType }));
  const context = canvas.getContext('2d');
  const scale = Math.min(canvas.width / bitmap.width, canvas.height / bitmap.height);
  const [width, height] = [bitmap.width * scale, bitmap.height * scale];
  context?.clearRect(0, 0, canvas.width, canvas.height);
  context?.drawImage(bitmap, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
  bitmap.close();
}
