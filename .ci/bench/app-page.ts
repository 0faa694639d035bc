// The app for a benchmark: the built host on a workspace, a page in headless Chromium, and frames counted in it.
/// <reference lib="dom" />
import { chromium, type CDPSession, type Page } from '@playwright/test';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ensureBrowser } from '../browser.mjs';
import { root } from './harness.ts';

export interface AppPage extends AsyncDisposable {
  readonly page: Page;
  /** CPU milliseconds the page's main thread has used: unlike frames, the same on a machine that others load too. */
  readonly mainThreadMs: () => Promise<number>;
}

export async function openApp(workspace: string): Promise<AppPage> {
  // Before the host: a search that fails leaves no host behind.
  const executablePath = await ensureBrowser();
  const server = spawn(
    process.execPath,
    [path.join(root, 'dist/engine/cli.mjs'), 'serve', '--json', '--workspace', workspace],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const address = await servingAddress(server);
  const browser = await chromium.launch({
    executablePath,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(address);
  await page.getByText('Connected').waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return {
    page,
    mainThreadMs: () => taskMs(session),
    async [Symbol.asyncDispose]() {
      await browser.close();
      server.kill('SIGTERM');
      if (server.exitCode === null) await once(server, 'exit');
    },
  };
}

async function taskMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
}

async function servingAddress(server: ChildProcess): Promise<string> {
  if (!server.stdout) throw new Error('The host has no output.');
  for await (const line of createInterface({ input: server.stdout })) {
    const event = JSON.parse(line) as { event?: string; address?: string };
    if (event.event === 'serving' && event.address) return event.address;
  }
  throw new Error('The host ended before it was serving.');
}

/** From the change of the address until the selector's element is drawn: the frame after it is there has begun. */
export function timeToDraw(page: Page, hash: string, selector: string): Promise<number> {
  return page.evaluate(
    ([to, wanted]) =>
      new Promise<number>((resolve) => {
        const startedMs = performance.now();
        const look = (): void => {
          if (!document.querySelector(wanted)) return void requestAnimationFrame(look);
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedMs)));
        };
        location.hash = to;
        requestAnimationFrame(look);
      }),
    [hash, selector] as const,
  );
}

/** Scrolls an element by some pixels a frame, up and down; with 0 the page only counts its frames. */
export function framesWhileScrolling(
  page: Page,
  options: { readonly selector: string; readonly pixels: number; readonly windowMs: number },
): Promise<readonly number[]> {
  return page.evaluate(
    ({ selector, pixels, windowMs }) =>
      new Promise<number[]>((resolve, reject) => {
        const element = document.querySelector(selector);
        if (!element) return reject(new Error(`nothing matches ${selector}`));
        const times: number[] = [];
        const frame = (atMs: number): void => {
          times.push(atMs);
          element.scrollTop += pixels;
          if (atMs - (times[0] ?? atMs) < windowMs) requestAnimationFrame(frame);
          else resolve(times);
        };
        requestAnimationFrame(frame);
      }),
    options,
  );
}

/**
 * A page without script, of as many rows of text as a window of scrolling passes, looking like the table: what scrolling
 * it drops is what drawing text costs on this machine, whoever puts the rows there.
 */
export async function openStaticRows(page: Page, label: string): Promise<Page> {
  const { html, viewport } = await page.locator(`[role=grid][aria-label="${label}"]`).evaluate((grid) => {
    const row = grid.querySelector('[role=rowgroup]:last-child > [role=row]:nth-child(3)');
    const rows = Array.from({ length: 700 }, () => row?.cloneNode(true));
    const styled = getComputedStyle(grid);
    const columns = styled.getPropertyValue('--columns');
    const drawn = rows.map((copy, at) => {
      if (!(copy instanceof HTMLElement)) return '';
      copy.style.cssText = `transform: translateY(${at * 28}px)`;
      return copy.outerHTML;
    });
    const rules = [...document.styleSheets]
      .flatMap((sheet) => [...sheet.cssRules])
      .map((rule) => rule.cssText);
    const { width, height } = grid.getBoundingClientRect();
    return {
      html: `<!doctype html><html lang="en"><style>${rules.join('\n')}</style><body><div class="grid" style="--columns:${columns};flex:none;width:${width}px;height:${height}px"><div class="grid-space" style="height:${28 * rows.length}px">${drawn.join('')}</div></div>`,
      viewport: { width: innerWidth, height: innerHeight },
    };
  });
  const other = await page.context().browser()?.newPage({ viewport });
  if (!other) throw new Error('The browser has gone.');
  await other.setContent(html);
  return other;
}

export interface FrameShare {
  readonly frames: number;
  readonly dropped: number;
}

const frameMs = 1000 / 60;

/** Frames a 60 Hz screen would have shown and did not get. */
export function droppedOf(times: readonly number[]): FrameShare {
  const gaps = times.slice(1).map((atMs, at) => atMs - (times[at] ?? atMs));
  const dropped = gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / frameMs) - 1), 0);
  return { frames: gaps.length, dropped };
}
