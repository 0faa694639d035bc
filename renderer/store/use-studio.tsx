// How components reach the studio: context, selectors, address, open run, commands.
import { createContext, useContext, useEffect, useRef, useSyncExternalStore, type ReactNode } from 'react';
import { useStore } from 'zustand';
import type { CommandId } from '../app/commands.ts';
import type { Address } from './address.ts';
import type { RunSession, RunSessionState } from './run-session.ts';
import type { Studio } from './studio.ts';
import type { StudioState } from './studio-store.ts';

const StudioContext = createContext<Studio | null>(null);

export function StudioProvider({
  studio,
  children,
}: {
  readonly studio: Studio;
  readonly children: ReactNode;
}) {
  return <StudioContext value={studio}>{children}</StudioContext>;
}

export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (!studio) throw new Error('Components live inside StudioProvider.');
  return studio;
}

export function useStudioState<T>(select: (state: StudioState) => T): T {
  return useStore(useStudio().store, select);
}

export function useAddress(): Address {
  const { navigation } = useStudio();
  return useSyncExternalStore(navigation.subscribe, navigation.get);
}

export function useSessionState(session: RunSession): RunSessionState {
  return useSyncExternalStore(session.subscribe, session.getState);
}

/** Increases whenever the drawn rows may have changed. */
export function useRowsVersion(session: RunSession): number {
  return useSyncExternalStore(session.subscribe, session.getRowsVersion);
}

/** Makes a command act while the component is there and `handler` is not null. */
export function useCommand(id: CommandId, handler: (() => void) | null, title?: string): void {
  const { commands } = useStudio();
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  const isActive = handler !== null;
  useEffect(() => {
    if (!isActive) return undefined;
    const run = (): void => latest.current?.();
    return commands.register(id, title === undefined ? { run } : { run, title });
  }, [commands, id, isActive, title]);
}
