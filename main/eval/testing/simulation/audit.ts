// Watches a simulated workspace from outside the product: what is on the device, what was told, what runs. Everything
// that may never happen is noted as text.
import { z } from 'zod';
import type { EventMap, EventName } from '../../../contract/api.ts';
import type { RunCounts } from '../../../contract/run.ts';
import { decodeLine } from '../../../store/journal-lines.ts';

/** What the audit needs of a line; these members have one name in files and in memory. */
const journalRow = z.object({
  ordinal: z.number(),
  attempt: z.number(),
  epoch: z.number(),
  final: z.boolean(),
  status: z.string(),
});
type JournalRow = z.infer<typeof journalRow>;

interface KnownRun {
  /** Bytes of the device's journal that are understood. */
  parsed: Buffer;
  readonly durable: Map<number, JournalRow[]>;
  /** Final rows somebody was told of. */
  readonly acknowledged: Map<number, string>;
  /** Handed out since the session began. */
  readonly leased: Set<number>;
  isStopped: boolean;
  isActive: boolean;
}

const terminal = new Set(['completed', 'error', 'timeout', 'died', 'no_verdict']);
const journalName = /\/([^/]+)\/episodes\.jsonl$/;

export class Audit {
  readonly violations: string[] = [];
  readonly runs = new Map<string, KnownRun>();
  acknowledged = 0;
  attempts = 0;
  readonly #where: () => string;
  #guardHolder: string | null = null;

  constructor(where: () => string) {
    this.#where = where;
  }

  readonly broken = (what: string): void => {
    if (this.violations.length < 20) this.violations.push(`${what} (${this.#where()})`);
  };

  run(runId: string): KnownRun {
    const known = this.runs.get(runId);
    if (known) return known;
    const run: KnownRun = {
      parsed: Buffer.alloc(0),
      durable: new Map(),
      acknowledged: new Map(),
      leased: new Set(),
      isStopped: false,
      isActive: false,
    };
    this.runs.set(runId, run);
    return run;
  }

  /** The engine is gone, and with it what it was about to do. */
  onEngineEnded(): void {
    this.#guardHolder = null;
    for (const run of this.runs.values()) this.onSessionEnded(run);
  }

  onSessionEnded(run: KnownRun): void {
    run.isActive = false;
    run.isStopped = false;
    run.leased.clear();
  }

  /** Called with the journal as the device has it, after every sync and every power failure. */
  onDurable(path: string, content: Buffer): void {
    const runId = journalName.exec(path)?.[1];
    if (runId === undefined || runId.startsWith('.')) return;
    const run = this.run(runId);
    const { parsed } = run;
    const isLonger =
      content.length >= parsed.length && content.compare(parsed, 0, parsed.length, 0, parsed.length) === 0;
    if (!isLonger) {
      run.durable.clear();
      run.parsed = Buffer.alloc(0);
    }
    this.#parse(run, content);
    if (!isLonger) this.#checkAcknowledged(runId, run);
  }

  /** Every row that was acknowledged is on the device. */
  checkAll(): void {
    for (const [runId, run] of this.runs) this.#checkAcknowledged(runId, run);
  }

  onEvent<Name extends EventName>(name: Name, payload: EventMap[Name]): void {
    const event = { name, payload } as {
      [Each in EventName]: { name: Each; payload: EventMap[Each] };
    }[EventName];
    switch (event.name) {
      case 'run.episodes':
        for (const row of event.payload.rows) this.#onRow(event.payload.runId, row);
        break;
      case 'run.live':
        this.#checkCounts(event.payload.live.summary.counts);
        break;
      case 'guard.changed': {
        const holder = event.payload.holder?.id ?? null;
        if (holder !== null && this.#guardHolder !== null)
          this.broken(`${holder} took the guard of ${this.#guardHolder}`);
        this.#guardHolder = holder;
        break;
      }
      case 'run.finished':
        this.onSessionEnded(this.run(event.payload.runId));
        break;
      default:
    }
  }

  /** From now on the run may hand out nothing more in this session. */
  onStopAsked(runId: string): void {
    this.run(runId).isStopped = true;
  }

  #onRow(
    runId: string,
    row: { readonly ordinal: number; readonly status: string; readonly attempts: number },
  ): void {
    const run = this.run(runId);
    if (row.status === 'running') {
      this.attempts++;
      if (this.#guardHolder !== runId) this.broken(`${runId} hands out an episode without the guard`);
      if (run.isStopped) this.broken(`episode ${row.ordinal} was handed out after stop`);
      if (run.acknowledged.has(row.ordinal))
        this.broken(`episode ${row.ordinal} runs again after its result`);
      if (run.leased.has(row.ordinal)) this.broken(`episode ${row.ordinal} is handed out twice at once`);
      run.leased.add(row.ordinal);
      return;
    }
    run.leased.delete(row.ordinal);
    const rows = run.durable.get(row.ordinal) ?? [];
    if (!rows.some(({ attempt }) => attempt === row.attempts))
      this.broken(`episode ${row.ordinal}, attempt ${row.attempts} was told before it was durable`);
    if (!terminal.has(row.status)) return;
    if (run.acknowledged.has(row.ordinal)) this.broken(`episode ${row.ordinal} ended twice`);
    this.acknowledged++;
    run.acknowledged.set(row.ordinal, row.status);
  }

  #parse(run: KnownRun, content: Buffer): void {
    let start = run.parsed.length;
    for (let end = content.indexOf(10, start); end !== -1; end = content.indexOf(10, start)) {
      const decoded = decodeLine(content.toString('utf8', start, end));
      start = end + 1;
      if (decoded.ok) this.#onDurableRow(run, journalRow.parse(decoded.value));
    }
    run.parsed = content.subarray(0, start);
  }

  #onDurableRow(run: KnownRun, row: JournalRow): void {
    const rows = run.durable.get(row.ordinal) ?? [];
    const last = rows.at(-1);
    if (last?.final) this.broken(`episode ${row.ordinal} has a row after its final one`);
    if (row.attempt !== rows.length + 1)
      this.broken(`episode ${row.ordinal}: attempt ${row.attempt} follows ${rows.length} rows`);
    if (last && row.epoch <= last.epoch)
      this.broken(`episode ${row.ordinal}: epoch ${row.epoch} follows ${last.epoch}`);
    rows.push(row);
    run.durable.set(row.ordinal, rows);
  }

  #checkAcknowledged(runId: string, run: KnownRun): void {
    for (const [ordinal, status] of run.acknowledged) {
      const final = run.durable.get(ordinal)?.find((row) => row.final);
      if (!final) this.broken(`${runId}: the acknowledged result of episode ${ordinal} is lost`);
      else if (final.status !== status) this.broken(`${runId}: the result of episode ${ordinal} has changed`);
    }
  }

  #checkCounts(counts: RunCounts): void {
    const { planned, completed, error, timeout, died, noVerdict, notRun } = counts;
    if (planned !== completed + error + timeout + died + noVerdict + notRun)
      this.broken(`the counts do not add up: ${JSON.stringify(counts)}`);
  }
}
