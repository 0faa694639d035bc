// A typed emitter. Listeners are called in order of subscription; one that throws is reported and does not stop
// the others.

export interface Emitter<Events extends object> {
  on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void): Disposable;
  onAny(listener: <Name extends keyof Events>(name: Name, payload: Events[Name]) => void): Disposable;
  emit<Name extends keyof Events>(name: Name, payload: Events[Name]): void;
}

export function createEmitter<Events extends object>(
  onListenerError: (error: unknown) => void = reportLater,
): Emitter<Events> {
  const byName = new Map<keyof Events, Set<(payload: never) => void>>();
  const any = new Set<(name: keyof Events, payload: never) => void>();
  const guarded = (call: () => void): void => {
    try {
      call();
    } catch (error) {
      onListenerError(error);
    }
  };
  return {
    on(name, listener) {
      const listeners = byName.get(name) ?? new Set();
      byName.set(name, listeners);
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    onAny(listener) {
      any.add(listener);
      return {
        [Symbol.dispose]: () => void any.delete(listener),
      };
    },
    emit(name, payload) {
      for (const listener of byName.get(name) ?? []) guarded(() => listener(payload as never));
      for (const listener of any) guarded(() => listener(name, payload as never));
    },
  };
}

function reportLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
