// Loads something and holds what is known about it: the value, the failure, or neither yet.
import { useCallback, useEffect, useRef, useState } from 'react';
import { isAborted, toRequestError, type RequestError } from '../api/request-error.ts';

export interface Loaded<T> {
  readonly value: T | null;
  readonly error: RequestError | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface Settled<T> {
  readonly key: string;
  readonly round: number;
  readonly value: T | null;
  readonly error: RequestError | null;
}

/** Runs `load` now and whenever `key` changes; what an older call brings is dropped. A reload keeps the old value. */
export function useLoad<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [settled, setSettled] = useState<Settled<T> | null>(null);
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  useEffect(() => {
    latest.current = load;
  });
  useEffect(() => {
    if (key === null) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    latest.current(signal).then(
      (value) => signal.aborted || setSettled({ key, round, value, error: null }),
      (thrown: unknown) => {
        if (signal.aborted || isAborted(thrown)) return;
        setSettled({ key, round, value: null, error: toRequestError(thrown) });
      },
    );
    return () => controller.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const current = settled?.key === key ? settled : null;
  return {
    value: current?.value ?? null,
    error: current?.error ?? null,
    isLoading: key !== null && current?.round !== round,
    reload,
  };
}

export interface Action {
  readonly isBusy: boolean;
  readonly error: RequestError | null;
  readonly run: (work: () => Promise<void>) => void;
  readonly clear: () => void;
}

/** An action somebody started: busy while it runs, its failure kept for the place where it was started. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<RequestError | null>(null);
  const run = useCallback((work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    work()
      .catch((thrown: unknown) => setError(isAborted(thrown) ? null : toRequestError(thrown)))
      .finally(() => setBusy(false));
  }, []);
  const clear = useCallback(() => setError(null), []);
  return { isBusy, error, run, clear };
}
