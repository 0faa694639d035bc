// The address as state: read, changed and listened to in one place.
import { formatAddress, home, parseAddress, type Address } from './address.ts';

export interface Navigation {
  readonly get: () => Address;
  /** Another place: a step in the browser's history. */
  readonly go: (address: Partial<Address> & Pick<Address, 'page'>) => void;
  /** The same place with another filter, sort or selection: no step. */
  readonly change: (change: Partial<Address>) => void;
  readonly back: () => void;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createNavigation(target: Window): Navigation {
  const listeners = new Set<() => void>();
  let text = target.location.hash;
  let address = parseAddress(text);
  const update = (): void => {
    if (target.location.hash === text) return;
    text = target.location.hash;
    address = parseAddress(text);
    for (const listener of listeners) listener();
  };
  target.addEventListener('hashchange', update);
  target.addEventListener('popstate', update);
  const write = (next: Address, step: boolean): void => {
    const formatted = formatAddress(next);
    if (formatted === target.location.hash) return;
    if (step) target.history.pushState(null, '', formatted);
    else target.history.replaceState(null, '', formatted);
    update();
  };
  return {
    get: () => address,
    go: (next) => write({ ...home, ...next }, true),
    change: (change) => write({ ...address, ...change }, false),
    back: () => target.history.back(),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
