// Which faults a seed has, and when they strike. A swarm: every seed has its own random subset at its own rates, because
// some bugs only show where other faults are absent.
import type { Random } from '../../../base/random.ts';

export const faultNames = [
  'delay',
  'reorder',
  'slow',
  'hang',
  'drop',
  'duplicate',
  'die_before',
  'die_after',
  'strike',
  'typed_error',
  'no_verdict',
  'fatal',
  'nan',
  'oversize',
  'start_fails',
  'start_hangs',
  'close_hangs',
  'kill_slow',
  'backend_dies',
  'backend_hangs',
  'backend_refuses',
  'backend_misfits',
  'io_error',
  'short_write',
  'sync_error',
  'disk_full',
  'engine_killed',
  'power_lost',
  'closed',
  'wall_jump',
  'suspend',
  'stop',
  'cancel',
  'play',
] as const;

export type FaultName = (typeof faultNames)[number];

export class Faults {
  readonly #random: Random;
  readonly #rates = new Map<FaultName, number>();
  readonly #struck = new Map<FaultName, number>();
  readonly #opportunities = new Map<FaultName, number>();
  readonly #script: Readonly<Partial<Record<FaultName, number>>>;
  /** Nothing goes wrong any more: what is left must now be completed. */
  isCalm = false;

  /** With a script, a fault strikes once, at its n-th opportunity, and nothing else does. */
  constructor(random: Random, script?: Readonly<Partial<Record<FaultName, number>>>) {
    this.#random = random;
    this.#script = script ?? {};
    if (script) return;
    const share = [0, 0.15, 0.4, 0.7][random.integer(4)] ?? 0;
    for (const name of faultNames) {
      if (random.next() < share) this.#rates.set(name, [0.3, 1, 1, 3][random.integer(4)] ?? 1);
    }
  }

  get names(): readonly FaultName[] {
    return [...this.#rates.keys()];
  }

  get struck(): ReadonlyMap<FaultName, number> {
    return this.#struck;
  }

  has(name: FaultName): boolean {
    return this.#rates.has(name);
  }

  /** Asked at every opportunity; `perMille` is the chance at the usual rate. */
  strikes(name: FaultName, perMille: number): boolean {
    const rate = this.#rates.get(name);
    const due = this.#script[name];
    if (due !== undefined) {
      const opportunity = (this.#opportunities.get(name) ?? 0) + 1;
      this.#opportunities.set(name, opportunity);
      return opportunity === due;
    }
    if (rate === undefined || this.isCalm) return false;
    const strikes = this.#random.next() < (rate * perMille) / 1000;
    if (strikes) this.count(name);
    return strikes;
  }

  count(name: FaultName): void {
    this.#struck.set(name, (this.#struck.get(name) ?? 0) + 1);
  }

  /** Milliseconds a call takes beyond its own. */
  latencyMs(): number {
    if (this.isCalm) return 0;
    if (this.strikes('delay', 30)) return this.#random.integer(300);
    return this.has('reorder') ? this.#random.integer(3) : 0;
  }

  /** Milliseconds a timer comes late. */
  timerLatenessMs(): number {
    return this.strikes('delay', 30) ? this.#random.integer(200) : 0;
  }
}
