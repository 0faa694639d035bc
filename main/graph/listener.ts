// What a run tells while it goes on. Every method is optional, and nothing is computed for one that is absent.
import type { StudioError } from '../base/errors.ts';
import type { PortValues } from './ports.ts';

/** Where in the run a firing happened. */
export type FiringPhase = 'loop' | 'settle' | 'verdict';

export interface FiringStart {
  readonly nodeId: string;
  readonly nodeType: string;
  /** `composite > inner`. */
  readonly path: string;
  /** Root iteration, from 0. */
  readonly step: number;
  readonly phase: FiringPhase;
  readonly inputs: PortValues;
  /** Set for a child of a fire list: the node that fired it. */
  readonly parentId?: string;
}

export interface FiringEnd extends FiringStart {
  readonly outputs: PortValues | null;
  readonly error: StudioError | null;
  readonly durationMs: number;
  readonly log: readonly (readonly [key: string, value: unknown])[];
}

/** One loop boundary. */
export interface StepEvent {
  readonly scopeId: string;
  /** Iterations of that scope so far. */
  readonly step: number;
  /** True for the loop whose end is the end of the run. */
  readonly isRoot: boolean;
  readonly budget: number;
}

export interface ViewerEvent {
  readonly nodeId: string;
  readonly nodeType: string;
  readonly step: number;
  readonly fields: PortValues;
}

export interface RunListener {
  onFiringStart?(firing: FiringStart): void;
  onFiring?(firing: FiringEnd): void;
  onStep?(step: StepEvent): void;
  onSignal?(name: string): void;
  onViewer?(event: ViewerEvent): void;
  onState?(state: RunnerState): void;
}

export type RunnerState = 'idle' | 'running' | 'paused' | 'finished';
