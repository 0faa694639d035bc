// Follows one run to its end: progress on a terminal, one line per event elsewhere, JSON lines with --json, and the
// three levels of Ctrl-C. The same requests a window would send, so either can stop the other's run.
import type { EventMessage } from '../../contract/api.ts';
import { toFileCase } from '../../contract/casing.ts';
import { chatUsage } from '../../contract/chat.ts';
import type { EpisodeRow, RunListItem, RunSummary } from '../../contract/run.ts';
import type { ErrorInfo } from '../../contract/error.ts';
import type { Client } from './client.ts';
import { exitCodeOfRun, exitCodes, type ExitCode } from './exit-codes.ts';
import { duration, headline, progressLines, summaryLines } from './format.ts';
import type { Output } from './output.ts';
import { handleInterrupts } from './interrupts.ts';
import { oneLine } from './text-width.ts';

const finalStatuses = ['completed', 'completed_with_errors', 'paused', 'cancelled', 'failed', 'interrupted'];
const outcomes = ['completed', 'error', 'timeout', 'died', 'no_verdict'];

export interface Watch {
  /**
   * Start to listen before the run is started, so that no event is missed; else it may have ended before. `announce`
   * runs when Ctrl-C is taken care of already: whoever reads of the run may press it at once.
   */
  until(runId: string, more?: { mayHaveEnded?: boolean; announce?: () => void }): Promise<ExitCode>;
}

/** Starts listening at once. */
export function watchRuns(client: Client, output: Output): Watch {
  const early: EventMessage[] = [];
  let take: (message: EventMessage) => void = (message) => void early.push(message);
  let onGap: () => void = () => {};
  client.transport.subscribe(
    (message) => take(message),
    () => onGap(),
  );
  return {
    async until(runId, { mayHaveEnded = false, announce } = {}) {
      const follower = new RunFollower(client, output, runId);
      using _interrupts = handleInterrupts(client, output, follower);
      announce?.();
      take = (message) => follower.take(message);
      onGap = () => follower.recover();
      early.splice(0).forEach((message) => follower.take(message));
      if (mayHaveEnded) follower.recover();
      const item = await follower.ended;
      return await report(client, output, item, follower.error);
    },
  };
}

class RunFollower {
  readonly ended: Promise<RunListItem>;
  error: ErrorInfo | null = null;
  hasEnded = false;
  readonly #client: Client;
  readonly #output: Output;
  readonly runId: string;
  readonly #reported = new Set<number>();
  #stage = '';
  #settle: (item: RunListItem) => void = () => {};
  #fail: (error: unknown) => void = () => {};

  constructor(client: Client, output: Output, runId: string) {
    this.#client = client;
    this.#output = output;
    this.runId = runId;
    this.ended = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
  }

  take(message: EventMessage): void {
    if (message.name === 'notice') return this.#showNotice(message.payload);
    if (!('runId' in message.payload) || message.payload.runId !== this.runId) return;
    switch (message.name) {
      case 'run.stage':
        return this.#showStage(message.payload.stage);
      case 'run.live':
        return this.#output.live(progressLines(message.payload.live, this.#output.columns));
      case 'run.episodes':
        return message.payload.rows.forEach((row) => this.#showEpisode(row));
      case 'run.finished':
        this.error = message.payload.error;
        return this.#end(message.payload.item);
      default:
        return;
    }
  }

  /** Events were missed: look whether the run has ended meanwhile. */
  recover(): void {
    this.#client
      .request('runs.list', { search: this.runId })
      .then(({ rows }) => {
        const item = rows.find((row) => row.runId === this.runId);
        if (item && finalStatuses.includes(item.status)) this.#end(item);
      })
      .catch((error: unknown) => this.#fail(error));
  }

  #end(item: RunListItem): void {
    this.hasEnded = true;
    this.#settle(item);
  }

  /** Why the run ended stands in its report. */
  #showNotice({ message, runId }: Extract<EventMessage, { readonly name: 'notice' }>['payload']): void {
    if (!this.hasEnded || runId !== this.runId) this.#output.note(oneLine(message));
  }

  #showStage(stage: string): void {
    if (stage === this.#stage) return;
    this.#stage = stage;
    this.#output.emit({ event: 'run.stage', run_id: this.runId, stage });
    if (!this.#output.terminal && !this.#output.json) this.#output.print(stage);
  }

  #showEpisode(row: EpisodeRow): void {
    if (!outcomes.includes(row.status) || this.#reported.has(row.ordinal)) return;
    this.#reported.add(row.ordinal);
    this.#output.emit(episodeEvent(this.runId, row));
    if (this.#output.terminal || this.#output.json) return;
    const metrics = Object.entries(row.metrics)
      .slice(0, 4)
      .map(([name, value]) => `${name} ${value ?? 'not measured'}`);
    const failure = row.errorMessage === null ? '' : `  ${oneLine(row.errorMessage)}`;
    this.#output.print(
      `episode ${row.episodeId ?? row.ordinal}  ${row.status}  ${row.steps ?? 0} steps  ${metrics.join('  ')}${failure}`,
    );
  }
}

function episodeEvent(runId: string, row: EpisodeRow): unknown {
  return {
    event: 'episode.finished',
    run_id: runId,
    ordinal: row.ordinal,
    episode_index: row.episodeIndex,
    episode_id: row.episodeId,
    repeat: row.repeat,
    status: row.status,
    attempts: row.attempts,
    steps: row.steps,
    duration_ms: row.durationMs,
    metrics: row.metrics,
    ...(row.usage ? { usage: toFileCase(chatUsage, row.usage) } : {}),
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage },
  };
}

async function report(
  client: Client,
  output: Output,
  item: RunListItem,
  error: ErrorInfo | null,
): Promise<ExitCode> {
  const { record, summary, folder } = await client.request('runs.get', { runId: item.runId });
  const failure = error ?? record.error;
  output.emit(finishedEvent(item, summary, failure));
  output.print('');
  output.print(`${item.runId}  ${item.status}  ${duration(item.activeMs)}`);
  for (const line of summaryLines(summary)) output.print(line);
  output.print(folder);
  if (failure) output.note(failure.message);
  if (record.pausedBecause) output.note(record.pausedBecause);
  const code = exitCodeOfRun(item.status, failure);
  if (code === exitCodes.resumable || item.status === 'cancelled')
    output.note(`Go on with: ${output.program} resume ${item.runId}`);
  return code;
}

function finishedEvent(item: RunListItem, summary: RunSummary, error: ErrorInfo | null): unknown {
  const { counts } = summary;
  return {
    event: 'run.finished',
    run_id: item.runId,
    status: item.status,
    counts: {
      planned: counts.planned,
      completed: counts.completed,
      error: counts.error,
      timeout: counts.timeout,
      died: counts.died,
      no_verdict: counts.noVerdict,
      not_run: counts.notRun,
      retried: counts.retried,
    },
    metrics: Object.fromEntries(
      summary.metrics.map((metric) => {
        const { mean, low, high, n, method } = headline(metric);
        return [
          metric.definition.name,
          { mean, low, high, n, method, of: metric.of, over: metric.headline, partial: metric.partial },
        ];
      }),
    ),
    flags: summary.flags,
    ...(summary.usage ? { usage: toFileCase(chatUsage, summary.usage) } : {}),
    error: error === null ? null : { code: error.code, message: error.message },
  };
}
