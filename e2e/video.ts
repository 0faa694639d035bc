// A video file looked at by a player: how long it is, and whether its pictures change.
import { readFile } from 'node:fs/promises';
import type { BrowserContext } from '@playwright/test';

export interface SeenVideo {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  /** Of twelve pictures over the whole length. */
  readonly differentPictures: number;
  /** True when no picture has a bright pixel below its caption. */
  readonly isBlack: boolean;
}

/** In an empty page, which knows nothing of the app. */
export async function watchVideo(context: BrowserContext, file: string): Promise<SeenVideo> {
  const page = await context.newPage();
  const bytes = (await readFile(file)).toString('base64');
  const seen = await page.evaluate(async (base64: string) => {
    const video = document.createElement('video');
    const event = (name: string): Promise<unknown> =>
      new Promise((resolve, reject) => {
        video.addEventListener(name, resolve, { once: true });
        video.addEventListener('error', () => reject(new Error(video.error?.message ?? 'unplayable')), {
          once: true,
        });
      });
    const content = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    video.muted = true;
    const loaded = event('loadeddata');
    video.src = URL.createObjectURL(new Blob([content], { type: 'video/webm' }));
    await loaded;
    const canvas = document.createElement('canvas');
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    const drawing = canvas.getContext('2d', { willReadFrequently: true });
    const pictures = new Set<string>();
    let brightest = 0;
    for (let at = 0; at < 12; at += 1) {
      const seeked = event('seeked');
      video.currentTime = (video.duration * (at + 0.5)) / 12;
      await seeked;
      drawing?.drawImage(video, 0, 0);
      pictures.add(canvas.toDataURL());
      const pixels = drawing?.getImageData(0, 60, canvas.width, canvas.height - 60).data ?? [];
      for (let pixel = 0; pixel < pixels.length; pixel += 4)
        brightest = Math.max(brightest, pixels[pixel] ?? 0);
    }
    return {
      seconds: video.duration,
      width: video.videoWidth,
      height: video.videoHeight,
      differentPictures: pictures.size,
      isBlack: brightest < 64,
    };
  }, bytes);
  await page.close();
  return seen;
}
