// Ties the address (filter, sort, group, selection) to the run's index and says what the table draws. While the
// pointer is inside, or an episode is open, the drawn rows hold still.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { EpisodeRow } from '#contract/run.ts';
import { compileExpression, type Compiled } from '../../store/expression.ts';
import type { RunSession } from '../../store/run-session.ts';
import { useAddress, useRowsVersion, useSessionState } from '../../store/use-studio.tsx';
import { groupedItem, groupRows, placeOf, type GroupedItem } from './grouped-rows.ts';

export interface EpisodeRows {
  readonly compiled: Compiled;
  readonly count: number;
  readonly version: string;
  readonly itemAt: (at: number) => GroupedItem | undefined;
  readonly rowAt: (at: number) => EpisodeRow | undefined;
  /** Where an episode is drawn, -1 when it is not. */
  readonly placeOfOrdinal: (ordinal: number) => number;
  readonly toggleGroup: (title: string) => void;
  readonly onWindow: (first: number, last: number) => void;
  readonly onPointer: (isInside: boolean) => void;
}

export function useEpisodeRows(session: RunSession, metrics: readonly string[]): EpisodeRows {
  const { filter, statuses, sort, group, episode } = useAddress();
  const { index } = session;
  const compiled = useMemo(() => compileExpression(filter, metrics), [filter, metrics]);
  const accepts = compiled.ok ? compiled.accepts : null;
  const version = useRowsVersion(session);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const isInside = useRef(false);
  const lastDrawn = useRef(0);

  const { rows } = useSessionState(session);
  // While the first rows still arrive there is nothing yet that could be held.
  const canHold = rows !== null && rows.loaded >= rows.total;
  const holdOrLetGo = useCallback(() => {
    index.hold(canHold && (isInside.current || episode !== null) ? lastDrawn.current + 1 : 0);
    session.touch();
  }, [index, session, episode, canHold]);
  useEffect(() => {
    index.setView({ statuses, accepts, sort, groupByError: group });
    session.touch();
  }, [index, session, statuses, accepts, sort, group]);
  // Also after another view: ranking everything anew let all rows go.
  useEffect(holdOrLetGo, [holdOrLetGo, statuses, accepts, sort, group]);
  useEffect(() => () => index.hold(0), [index]);

  // `version` stands for the rows, which change in place.
  // oxlint-disable-next-line react/exhaustive-deps
  const grouped = useMemo(() => (group ? groupRows(index, folded) : null), [group, index, folded, version]);
  const itemAt = useCallback(
    (at: number): GroupedItem | undefined =>
      grouped ? groupedItem(grouped, at) : { kind: 'row', position: at },
    [grouped],
  );
  return {
    compiled,
    count: grouped ? grouped.count : index.length,
    version: `${version} ${folded.size}`,
    itemAt,
    rowAt: (at) => {
      const item = itemAt(at);
      return item?.kind === 'row' ? index.at(item.position) : undefined;
    },
    placeOfOrdinal: (ordinal) => {
      const position = index.positionOf(ordinal);
      return position < 0 || !grouped ? position : placeOf(grouped, position);
    },
    toggleGroup: useCallback((title: string) => setFolded((before) => toggled(before, title)), []),
    onWindow: useCallback(
      (_first: number, last: number) => {
        if (last <= lastDrawn.current && !isInside.current) return;
        lastDrawn.current = last;
        if (canHold && (isInside.current || episode !== null)) index.hold(last + 1);
      },
      [index, episode, canHold],
    ),
    onPointer: useCallback(
      (inside: boolean) => {
        isInside.current = inside;
        holdOrLetGo();
      },
      [holdOrLetGo],
    ),
  };
}

function toggled(before: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(before);
  if (!next.delete(key)) next.add(key);
  return next;
}
