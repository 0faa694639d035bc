// How long each kind of call may take: the product's defaults, overlaid with what a nodeset declares.
import type { NodesetManifest } from '../contract/nodeset.ts';
import type { Deadlines } from '../contract/settings.ts';

export interface CallDeadlines {
  /** Choosing an episode: panel fields and actions. */
  readonly resetMs: number;
  /** A firing of an environment's node. */
  readonly stepMs: number;
  /** A firing of any other node, and every question that only reads. */
  readonly callMs: number;
  /** The first firing of a node of a process: models load then. */
  readonly firstCallMs: number;
  /** From the handshake to ready. */
  readonly readyMs: number;
  readonly closeMs: number;
}

/** What Settings say for nodesets that declare nothing. */
export type DefaultDeadlines = Pick<
  Deadlines,
  'resetSec' | 'stepSec' | 'callSec' | 'firstCallSec' | 'closeSec'
>;

const productDefaults: DefaultDeadlines = {
  resetSec: 120,
  stepSec: 60,
  callSec: 120,
  firstCallSec: 1800,
  closeSec: 10,
};

export function deadlinesOf(
  manifest: Pick<NodesetManifest, 'deadlinesSec' | 'startupTimeoutSec' | 'hasEnvPanel'>,
  defaults: DefaultDeadlines = productDefaults,
): CallDeadlines {
  const declared = manifest.deadlinesSec;
  const stepSec = positive(declared['step']) ?? defaults.stepSec;
  const callSec = positive(declared['call']) ?? defaults.callSec;
  const firstSec = positive(declared['firstCall'] ?? declared['first_call']);
  // An environment has loaded what it needs when it is ready, so its first step has no more time than the others.
  const firstDefaultSec = manifest.hasEnvPanel ? stepSec : Math.max(callSec, defaults.firstCallSec);
  return {
    resetMs: (positive(declared['reset']) ?? defaults.resetSec) * 1000,
    stepMs: stepSec * 1000,
    callMs: callSec * 1000,
    firstCallMs: (firstSec ?? firstDefaultSec) * 1000,
    readyMs: manifest.startupTimeoutSec * 1000,
    closeMs: (positive(declared['close']) ?? defaults.closeSec) * 1000,
  };
}

function positive(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds > 0 ? seconds : undefined;
}
