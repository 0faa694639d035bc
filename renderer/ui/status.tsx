// A status is a glyph, a word and a colour, never one of them alone.
import {
  Ban,
  Check,
  CheckCheck,
  Circle,
  CircleHelp,
  CirclePlay,
  CircleX,
  Clock,
  Flag,
  Hourglass,
  ListOrdered,
  LoaderCircle,
  Pause,
  TriangleAlert,
  Unplug,
  type LucideIcon,
} from 'lucide-react';
import type { EpisodeStatus, RunStatus } from '#contract/run.ts';
import { formatWord } from './format.ts';

type AnyStatus = EpisodeStatus | RunStatus | 'limit';

const glyphs: Readonly<Record<AnyStatus, LucideIcon>> = {
  completed: Check,
  error: CircleX,
  timeout: Clock,
  died: Unplug,
  no_verdict: CircleHelp,
  pending: Circle,
  running: CirclePlay,
  cancelled: Ban,
  queued: ListOrdered,
  preparing: LoaderCircle,
  stopping: Hourglass,
  paused: Pause,
  completed_with_errors: CheckCheck,
  failed: CircleX,
  interrupted: TriangleAlert,
  limit: Flag,
};

/** Made once: where a table lends an element to another row of the same status, nothing is compared or drawn. */
const drawnGlyphs = Object.fromEntries(
  Object.entries(glyphs).map(([status, Glyph]) => [
    status,
    <Glyph key="glyph" size={13} strokeWidth={2.25} aria-hidden="true" />,
  ]),
);

export function Status({ status, word }: { readonly status: AnyStatus; readonly word?: string }) {
  return (
    <span className={`status ${status}`}>
      {drawnGlyphs[status]}
      <span>{word ?? formatWord(status)}</span>
    </span>
  );
}
