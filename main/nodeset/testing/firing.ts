// A firing context for tests, with containers in memory.
import { StudioError } from '../../base/errors.ts';
import type { ContainerAccess, FiringContext } from '../../graph/ports.ts';

export interface RecordedFiring extends FiringContext {
  readonly logged: [string, unknown][];
  readonly signals: string[];
  /** `container/state/key` to value. */
  readonly stored: Map<string, unknown>;
}

export interface FiringOptions {
  readonly executionId?: string;
  readonly nodeId?: string;
  readonly step?: number;
  readonly seed?: number;
  readonly signal?: AbortSignal;
  readonly granted?: readonly string[];
  readonly stored?: Map<string, unknown>;
}

export function firing(options: FiringOptions = {}): RecordedFiring {
  const logged: [string, unknown][] = [];
  const signals: string[] = [];
  const stored = options.stored ?? new Map<string, unknown>();
  const {
    executionId = 'execution-1',
    nodeId = 'n1',
    step = 0,
    seed = 7,
    signal = new AbortController().signal,
  } = options;
  return {
    executionId,
    nodeId,
    step,
    seed,
    signal,
    state: new Map(),
    containers: containersOver(stored, options.granted ?? []),
    log: (key, value) => void logged.push([key, value]),
    emitSignal: (name) => void signals.push(name),
    logged,
    signals,
    stored,
  };
}

function containersOver(stored: Map<string, unknown>, granted: readonly string[]): ContainerAccess {
  const keyOf = (container: string, state: string, key = ''): string => {
    if (!granted.includes(container)) throw new StudioError('not_found', `no grant for ${container}`);
    return `${container}/${state}/${key}`;
  };
  return {
    granted,
    read: (container, state, key) => stored.get(keyOf(container, state, key)) ?? null,
    write: (container, state, value, key) => void stored.set(keyOf(container, state, key), value),
    evict: (container, state, key) => void stored.delete(keyOf(container, state, key)),
  };
}
