// How long each kind of call may take: the product's defaults, overlaid with what a nodeset declares.
import type { NodesetManifest } from '../contract/nodeset.ts';

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

const defaultsSec = { reset: 120, step: 60, call: 120, firstCall: 1800, close: 10 } as const;

export function deadlinesOf(
  manifest: Pick<NodesetManifest, 'deadlinesSec' | 'startupTimeoutSec' | 'hasEnvPanel'>,
): CallDeadlines {
  const declared = manifest.deadlinesSec;
  const stepSec = positive(declared['step']) ?? defaultsSec.step;
  const callSec = positive(declared['call']) ?? defaultsSec.call;
  const firstSec = positive(declared['firstCall'] ?? declared['first_call']);
  // An environment has loaded what it needs when it is ready, so its first step has no more time than the others.
  const firstDefaultSec = manifest.hasEnvPanel ? stepSec : Math.max(callSec, defaultsSec.firstCall);
  return {
    resetMs: (positive(declared['reset']) ?? defaultsSec.reset) * 1000,
    stepMs: stepSec * 1000,
    callMs: callSec * 1000,
    firstCallMs: (firstSec ?? firstDefaultSec) * 1000,
    readyMs: manifest.startupTimeoutSec * 1000,
    closeMs: (positive(declared['close']) ?? defaultsSec.close) * 1000,
  };
}

function positive(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds > 0 ? seconds : undefined;
}
