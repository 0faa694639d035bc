// Live state of one run: containers with named states. A state's reducer says how writes combine, its lifetime which
// signals bring it back to its initial value. Keyed access gives every key a partition of its own.
import { StudioError } from '../base/errors.ts';
import type { GraphContainer, StateDefinition } from '../contract/graph.ts';
import type { ContainerAccess } from './ports.ts';

type StateValues = Readonly<Record<string, unknown>>;

/** Values per container and state; the keyed partitions apart. */
export interface ContainerSnapshot {
  readonly values: Readonly<Record<string, StateValues>>;
  readonly keyed: Readonly<Record<string, Readonly<Record<string, ReadonlyMap<string, unknown>>>>>;
}

interface LiveState {
  readonly definition: StateDefinition;
  readonly signals: ReadonlySet<string>;
  value: unknown;
  readonly partitions: Map<string, unknown>;
}

const lifetimeSignals: Readonly<Record<Exclude<StateDefinition['lifetime'], 'custom'>, readonly string[]>> = {
  forever: [],
  step: ['step_end'],
  episode: ['episode_reset'],
  run: ['run_end'],
};

export class ContainerStore {
  readonly #containers: ReadonlyMap<string, ReadonlyMap<string, LiveState>>;
  readonly #listening: ReadonlyMap<string, readonly LiveState[]>;

  constructor(definitions: readonly GraphContainer[]) {
    this.#containers = new Map(definitions.map((container) => [container.id, statesOf(container)]));
    const listening = new Map<string, LiveState[]>();
    for (const states of this.#containers.values()) {
      for (const state of states.values()) {
        for (const signal of state.signals) listening.set(signal, [...(listening.get(signal) ?? []), state]);
      }
    }
    this.#listening = listening;
  }

  get isEmpty(): boolean {
    return this.#containers.size === 0;
  }

  read(container: string, name: string, key?: string): unknown {
    const state = this.#state(container, name);
    if (key === undefined) return state.value;
    return state.partitions.has(key) ? state.partitions.get(key) : initialValue(state.definition);
  }

  write(container: string, name: string, value: unknown, key?: string): void {
    const state = this.#state(container, name);
    if (key === undefined) {
      state.value = reduce(state.definition, state.value, value);
      return;
    }
    const before = state.partitions.has(key) ? state.partitions.get(key) : initialValue(state.definition);
    state.partitions.set(key, reduce(state.definition, before, value));
  }

  evict(container: string, name: string, key: string): void {
    this.#state(container, name).partitions.delete(key);
  }

  /** Resets every state whose lifetime names the signal. */
  signal(name: string): void {
    const states = this.#listening.get(name);
    if (!states) return;
    for (const state of states) {
      state.value = initialValue(state.definition);
      for (const key of state.partitions.keys()) state.partitions.set(key, initialValue(state.definition));
    }
  }

  /** An independent copy; arrays of numbers and other opaque values are kept by reference. */
  snapshot(): ContainerSnapshot {
    const values: Record<string, Record<string, unknown>> = {};
    const keyed: Record<string, Record<string, ReadonlyMap<string, unknown>>> = {};
    for (const [id, states] of this.#containers) {
      const own: Record<string, unknown> = {};
      const partitions: Record<string, ReadonlyMap<string, unknown>> = {};
      for (const [name, state] of states) {
        own[name] = copyPlain(state.value);
        if (state.partitions.size > 0) {
          partitions[name] = new Map([...state.partitions].map(([key, value]) => [key, copyPlain(value)]));
        }
      }
      values[id] = own;
      if (Object.keys(partitions).length > 0) keyed[id] = partitions;
    }
    return { values, keyed };
  }

  restore(snapshot: ContainerSnapshot): void {
    for (const [id, states] of this.#containers) {
      for (const [name, state] of states) {
        state.value = copyPlain(snapshot.values[id]?.[name]);
        state.partitions.clear();
        for (const [key, value] of snapshot.keyed[id]?.[name] ?? [])
          state.partitions.set(key, copyPlain(value));
      }
    }
  }

  /** The containers as one node sees them. */
  accessFor(nodeId: string, granted: readonly string[]): ContainerAccess {
    const checked = (container: string): string => {
      if (granted.includes(container)) return container;
      const seen = granted.length > 0 ? `it sees ${granted.join(', ')}` : 'it has no grants';
      throw new StudioError(
        'not_found',
        `node '${nodeId}' has no grant for container '${container}' (${seen}); add an access grant`,
      );
    };
    return {
      granted,
      read: (container, state, key) => this.read(checked(container), state, key),
      write: (container, state, value, key) => this.write(checked(container), state, value, key),
      evict: (container, state, key) => this.evict(checked(container), state, key),
    };
  }

  #state(container: string, name: string): LiveState {
    const states = this.#containers.get(container);
    if (!states)
      throw new StudioError(
        'not_found',
        `the graph has no container '${container}'; add it or remove the grant`,
      );
    const state = states.get(name);
    if (!state) {
      const known = [...states.keys()].join(', ') || 'none';
      throw new StudioError(
        'not_found',
        `container '${container}' has no state '${name}' (it has: ${known}); declare it in the container`,
      );
    }
    return state;
  }
}

function statesOf(container: GraphContainer): ReadonlyMap<string, LiveState> {
  return new Map(
    Object.entries(container.states).map(([name, definition]) => [
      name,
      {
        definition,
        signals: new Set(
          definition.lifetime === 'custom' ? definition.reset_on : lifetimeSignals[definition.lifetime],
        ),
        value: initialValue(definition),
        partitions: new Map(),
      },
    ]),
  );
}

function initialValue(definition: StateDefinition): unknown {
  const initial = copyPlain(definition.config.initial_value ?? null);
  if (initial !== null) return initial;
  switch (definition.type) {
    case 'accumulator':
      return [];
    case 'counter':
      return 0;
    case 'lastWrite':
      return null;
  }
}

function reduce(definition: StateDefinition, before: unknown, written: unknown): unknown {
  switch (definition.type) {
    case 'lastWrite':
      return written;
    case 'counter':
      return added(before, written);
    case 'accumulator': {
      const list: unknown[] = Array.isArray(before) ? before : [];
      list.push(written);
      const limit = definition.config.max_size;
      return typeof limit === 'number' && limit > 0 && list.length > limit ? list.slice(-limit) : list;
    }
  }
}

function added(before: unknown, written: unknown): unknown {
  if (typeof before === 'bigint' && typeof written === 'bigint') return before + written;
  if (typeof before === 'number' && typeof written === 'number') return before + written;
  if (typeof before === 'number' && typeof written === 'boolean') return before + Number(written);
  throw new StudioError('invalid_input', `a counter takes numbers, got ${typeof written}`);
}

/** Copies arrays, maps, sets and plain objects; everything else (tensors, bytes) is shared. */
export function copyPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyPlain);
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [key, copyPlain(member)]));
  if (value instanceof Set) return new Set([...value].map(copyPlain));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyPlain(member)]));
}
