// The clock of a recorded episode on the canvas: a cursor driven by animation frames while it plays, the steps it needs
// read ahead of it, and its step kept in the address.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useStore } from 'zustand';
import type { OpenedRecording, RecordedFiring } from '#contract/replay.ts';
import { toRequestError, isAborted, type RequestError } from '../../api/request-error.ts';
import {
  changeEpisodeSpeed,
  cursorAt,
  doneOf,
  moveFirings,
  moveSteps,
  seekStep,
  tickEpisode,
  toggleEpisode,
  type EpisodeCursor,
  type EpisodeExtent,
} from '../../canvas-model/episode-cursor.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { useAnimationClock } from '../../ui/use-animation-clock.ts';
import { useLoad, type Loaded } from '../../ui/use-request.ts';
import { useStepInAddress } from '../../ui/use-step-in-address.ts';
import type { EpisodeFeed } from './episode-feed.ts';

export interface EpisodePlayer {
  readonly opened: Loaded<OpenedRecording>;
  readonly stepError: RequestError | null;
  readonly cursor: EpisodeCursor;
  readonly lastStep: number;
  /** The firing the cursor is at, and its number in the step; undefined while the step is read. */
  readonly current: RecordedFiring | undefined;
  readonly done: number | undefined;
  readonly total: number | undefined;
  /** The step has more firings than are shown one by one. */
  readonly isCut: boolean;
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
  readonly toggle: () => void;
  readonly seek: (step: number) => void;
  readonly moveSteps: (by: number) => void;
  readonly moveFirings: (by: 1 | -1) => void;
  readonly changeSpeed: (by: 1 | -1) => void;
  readonly setSpeed: (speed: number) => void;
  readonly retry: () => void;
}

const indexingEveryMs = 700;
/** Steps read before they are needed. */
const ahead = 6;

export function useEpisode(feed: EpisodeFeed): EpisodePlayer {
  const { navigation } = useStudio();
  const opened = useOpened(feed);
  const lastStep = (opened.value?.steps ?? 0) - 1;
  const [moved, setCursor] = useState<EpisodeCursor>(() => startOf(navigation.get().step));
  // An address may name a step that is not there, or not read yet.
  const cursor = lastStep >= 0 && moved.step > lastStep ? { ...moved, step: lastStep } : moved;
  const version = useStore(feed.version);
  const extent = useMemo<EpisodeExtent>(
    () => ({ lastStep, firingsOf: (step) => feed.stepOf(step)?.firings.length }),
    [feed, lastStep],
  );
  const latest = useRef(extent);
  useEffect(() => {
    latest.current = extent;
  }, [extent]);
  const steps = useSteps(feed, { step: cursor.step, lastStep });
  useFrames(cursor.isPlaying, latest, setCursor);
  const onAsked = useCallback(
    (asked: number) => setCursor((before) => ({ ...cursorAt(asked), speed: before.speed })),
    [],
  );
  useStepInAddress({ page: 'canvas', step: cursor.step, isPlaying: cursor.isPlaying, lastStep, onAsked });
  const done = doneOf(cursor, extent);
  const { step } = cursor;
  useEffect(() => {
    if (done !== undefined) feed.show(step, done);
  }, [feed, step, done, version]);
  const read = feed.stepOf(step);
  const change = useCallback(
    (move: (before: EpisodeCursor, extent: EpisodeExtent) => EpisodeCursor) =>
      setCursor((before) => move(before, latest.current)),
    [],
  );
  return {
    opened,
    stepError: steps.error,
    retry: steps.retry,
    cursor,
    lastStep,
    current: done === undefined ? undefined : read?.firings[done - 1],
    done,
    total: read?.total,
    isCut: read !== undefined && read.total > read.firings.length,
    isAtStart: step <= 0 && (done ?? 0) <= 1,
    isAtEnd: step >= lastStep && done !== undefined && done >= (read?.firings.length ?? 0),
    toggle: () => change(toggleEpisode),
    seek: (to) => change((before, within) => seekStep(before, to, within)),
    moveSteps: (by) => change((before, within) => moveSteps(before, by, within)),
    moveFirings: (by) => change((before, within) => moveFirings(before, by, within)),
    changeSpeed: (by) => change((before) => changeEpisodeSpeed(before, by)),
    setSpeed: (speed) => change((before) => ({ ...before, speed })),
  };
}

/** Without a step in the address it stands before the first firing was followed by another. */
const startOf = (step: number | null): EpisodeCursor =>
  step === null ? { ...cursorAt(0), done: 1 } : cursorAt(step);

function useOpened(feed: EpisodeFeed): Loaded<OpenedRecording> {
  const { client } = useStudio();
  const { place } = feed;
  const opened = useLoad(JSON.stringify(place), (signal) => client.request('replay.open', place, signal));
  const { value, reload } = opened;
  useEffect(() => {
    if (value) feed.takeOpened(value);
    if (!value || value.isIndexed) return undefined;
    const timer = setTimeout(reload, indexingEveryMs);
    return () => clearTimeout(timer);
  }, [feed, value, reload]);
  return opened;
}

/** Reads the step that is shown, then those that follow. */
function useSteps(
  feed: EpisodeFeed,
  { step, lastStep }: { readonly step: number; readonly lastStep: number },
): { readonly error: RequestError | null; readonly retry: () => void } {
  const [error, setError] = useState<RequestError | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    const read = async (): Promise<void> => {
      for (let next = step; next <= Math.min(lastStep, step + ahead) && isCurrent; next++)
        await feed.read(next);
    };
    read().then(
      () => isCurrent && setError(null),
      (thrown: unknown) => isCurrent && !isAborted(thrown) && setError(toRequestError(thrown)),
    );
    return () => {
      isCurrent = false;
    };
  }, [feed, step, lastStep, round]);
  const retry = useCallback(() => setRound((before) => before + 1), []);
  return { error, retry };
}

function useFrames(
  isPlaying: boolean,
  extent: { readonly current: EpisodeExtent },
  setCursor: (change: (before: EpisodeCursor) => EpisodeCursor) => void,
): void {
  useAnimationClock(isPlaying, (elapsedMs) =>
    setCursor((cursor) => tickEpisode(cursor, elapsedMs, extent.current)),
  );
}
