// One simulated run: workers that take episodes, step, finish; paused, cancelled and resumed like a real one.
import type { EventMessage, EventPayload } from '#contract/api.ts';
import type { EvalConfig } from '#contract/eval-config.ts';
import type { LiveRun } from '#contract/requests.ts';
import type { EpisodeRow, RunListItem, RunStatus, WorkerView } from '#contract/run.ts';
import { finishedRow, pendingRow, summaryOf } from './fake-data.ts';

export type Publish = <Name extends EventMessage['name']>(name: Name, payload: EventPayload<Name>) => void;

interface Lane {
  ordinal: number | null;
  step: number;
  until: number;
  since: number;
}

const tickMs = 100;

export class FakeRun {
  readonly runId: string;
  readonly config: EvalConfig;
  readonly rows: EpisodeRow[];
  status: RunStatus = 'queued';
  readonly createdAt = new Date().toISOString();
  startedAt: string | null = null;
  finishedAt: string | null = null;
  activeMs = 0;
  name: string;
  tags: string[];
  note: string;
  readonly parentRun: string | null;
  readonly #publish: Publish;
  readonly #speed: number;
  readonly #onEnd: (run: FakeRun) => void;
  readonly #lanes: Lane[] = [];
  #next = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: {
    runId: string;
    config: EvalConfig;
    episodes: number;
    speed: number;
    parentRun: string | null;
    publish: Publish;
    onEnd: (run: FakeRun) => void;
  }) {
    this.runId = options.runId;
    this.config = options.config;
    this.rows = Array.from({ length: options.episodes }, (_unused, ordinal) => pendingRow(ordinal));
    this.name = `${options.config.graph.split(/[/:]/).at(-1)?.replace('.json', '')} ${new Date().toISOString().slice(11, 16)}`;
    this.tags = options.config.tags;
    this.note = options.config.note;
    this.parentRun = options.parentRun;
    this.#publish = options.publish;
    this.#speed = options.speed;
    this.#onEnd = options.onEnd;
  }

  begin(): void {
    this.status = 'preparing';
    this.finishedAt = null;
    this.#changed();
    this.#publish('run.stage', { runId: this.runId, stage: 'Starting 8 workers', elapsedMs: 0 });
    setTimeout(() => {
      if (this.status !== 'preparing') return;
      this.status = 'running';
      this.startedAt ??= new Date().toISOString();
      this.#lanes.length = 0;
      for (let worker = 0; worker < this.config.workerCount; worker += 1)
        this.#lanes.push({ ordinal: null, step: 0, until: 0, since: Date.now() });
      this.#next = 0;
      this.#changed();
      this.#timer = setInterval(() => this.#tick(), tickMs);
    }, 700);
  }

  stop(): void {
    if (this.status === 'running') this.status = 'stopping';
    this.#changed();
  }

  cancel(): void {
    for (const row of this.rows)
      if (row.status === 'running') this.rows[row.ordinal] = pendingRow(row.ordinal);
    this.#end('cancelled');
  }

  live(sequence: number): LiveRun | null {
    if (!['preparing', 'running', 'stopping'].includes(this.status)) return null;
    const summary = summaryOf(this.rows);
    const done = summary.counts.planned - summary.counts.notRun;
    const perSecond = this.activeMs > 0 ? done / (this.activeMs / 1000) : null;
    const left = perSecond ? (summary.counts.notRun / perSecond) * 1000 : null;
    const sizes = [40, 61, 90, 130, 170, 220, 260, 410]
      .slice(0, this.config.workerCount)
      .map((size) => Math.round((size * done) / 200));
    return {
      runId: this.runId,
      sequence,
      status: this.status,
      stage: this.status === 'preparing' ? 'Starting workers' : null,
      elapsedMs: this.activeMs,
      episodesPerSecond: perSecond,
      remainingMs: left === null ? null : { low: left * 0.85, high: left * 1.2 },
      workers: this.#lanes.map((lane, worker) => this.#view(lane, worker)),
      summary,
      batching: [
        {
          nodePath: 'policy',
          key: 'policy:9f',
          callers: this.config.workerCount,
          waiting: 2,
          batches: sizes.reduce((a, b) => a + b, 0),
          samples: sizes.reduce((sum, count, at) => sum + count * (at + 1), 0),
          sizes,
          waitMs: { median: 0.8, p95: 3.1 },
          forwardMs: { median: 4.2, p95: 6.8 },
          samplesPerSecond: 812,
        },
      ],
    };
  }

  item(): RunListItem {
    const summary = summaryOf(this.rows);
    return {
      runId: this.runId,
      name: this.name,
      graphName: this.config.graph.split(/[/:]/).at(-1) ?? '',
      envName: 'minivln',
      split: this.config.selectors['split'] ?? null,
      status: this.status,
      counts: summary.counts,
      headline: summary.metrics[0] ?? null,
      workerCount: this.config.workerCount,
      createdAt: this.createdAt,
      finishedAt: this.finishedAt,
      activeMs: this.activeMs,
      tags: this.tags,
      note: this.note,
      parentRun: this.parentRun,
    };
  }

  #view(lane: Lane, worker: number): WorkerView {
    return {
      worker,
      phase: lane.ordinal === null ? 'idle' : lane.step < 2 ? 'reset' : 'step',
      phaseSinceMs: lane.since,
      ordinal: lane.ordinal,
      episodeId: lane.ordinal === null ? null : (this.rows[lane.ordinal]?.episodeId ?? null),
      step: lane.step,
      stepBudget: 500,
      attempt: 1,
      pids: [4000 + worker],
      rssBytes: 210_000_000 + worker * 9_000_000,
      idleMs: 400 + worker * 130,
      deaths: worker === 3 ? 1 : 0,
    };
  }

  #tick(): void {
    this.activeMs += tickMs;
    const now = Date.now();
    const changed: EpisodeRow[] = [];
    for (const [worker, lane] of this.#lanes.entries()) {
      if (lane.ordinal !== null && now >= lane.until) {
        const row = finishedRow(lane.ordinal, worker, lane.since);
        this.rows[lane.ordinal] = row;
        changed.push(row);
        lane.ordinal = null;
      }
      if (lane.ordinal === null && this.status === 'running') this.#lease(lane, worker, now, changed);
      else lane.step += 4;
    }
    if (changed.length > 0) this.#publish('run.episodes', { runId: this.runId, rows: changed });
    const live = this.live(0);
    if (live) this.#publish('run.live', { runId: this.runId, live });
    this.#publish('run.changed', { runId: this.runId, item: this.item() });
    if (this.#lanes.every((lane) => lane.ordinal === null)) {
      const left = this.rows.some((row) => row.status === 'pending');
      const failed = this.rows.some((row) => row.status !== 'completed');
      this.#end(left ? 'paused' : failed ? 'completed_with_errors' : 'completed');
    }
  }

  #lease(lane: Lane, worker: number, now: number, changed: EpisodeRow[]): void {
    while (this.#next < this.rows.length && this.rows[this.#next]?.status !== 'pending') this.#next += 1;
    const row = this.rows[this.#next];
    if (!row) return;
    lane.ordinal = row.ordinal;
    lane.step = 0;
    lane.since = now;
    lane.until = now + (800 + ((row.ordinal * 37) % 1700)) / this.#speed;
    this.rows[row.ordinal] = { ...row, status: 'running', attempts: 1, worker };
    changed.push(this.rows[row.ordinal] as EpisodeRow);
  }

  #end(status: RunStatus): void {
    clearInterval(this.#timer);
    this.status = status;
    this.finishedAt = new Date().toISOString();
    this.#onEnd(this);
    this.#publish('run.finished', { runId: this.runId, status, error: null, item: this.item() });
  }

  #changed(): void {
    this.#publish('run.changed', { runId: this.runId, item: this.item() });
  }
}
