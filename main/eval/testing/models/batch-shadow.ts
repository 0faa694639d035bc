// What is left of the batch that is under way, worked out beside the queue from how its calls ended: two histories after
// which the same is left have the same future. The queue's next call must be what is due here.
import { StudioError } from '../../../base/errors.ts';
import { decideFailure } from '../../../inference/failure-rule.ts';

export type CallEnd = 'ok' | 'refuses' | 'dies' | 'misfits' | 'hangs';

const errors = {
  refuses: new StudioError('node_failed', 'refuses'),
  dies: new StudioError('process_died', 'dies'),
  misfits: new StudioError('remote_error', 'misfits'),
  hangs: new StudioError('timeout', 'hangs'),
} as const;

export class BatchShadow {
  /** The first one is under way. */
  #parts: readonly (readonly number[])[] = [];
  #losses = 0;

  get parts(): readonly (readonly number[])[] {
    return this.#parts;
  }

  /** Of the backend, since its last answer in this batch. */
  get losses(): number {
    return this.#losses;
  }

  /** What is due; a batch of its own when nothing is left of the one before. */
  next(ids: readonly number[], isSettled: (id: number) => boolean): string {
    const due = this.#parts
      .map((part) => part.filter((id) => !isSettled(id)))
      .filter((part) => part.length > 0);
    if (due.length === 0) this.#losses = 0;
    this.#parts = due.length > 0 ? due : [ids];
    return (this.#parts[0] ?? []).join();
  }

  ended(end: CallEnd): void {
    const [part = [], ...rest] = this.#parts;
    if (end === 'ok') {
      this.#losses = 0;
      this.#parts = rest;
      return;
    }
    const error = errors[end];
    if (end === 'dies' || end === 'hangs') this.#losses++;
    const isMismatch = end === 'misfits';
    const decision = decideFailure({ batch: part, error, lossesInARow: this.#losses, isMismatch });
    if (decision.kind === 'reject_all') this.#parts = [];
    else this.#parts = decision.kind === 'retry' ? [...decision.parts, ...rest] : rest;
  }

  forget(): void {
    this.#parts = [];
    this.#losses = 0;
  }
}
