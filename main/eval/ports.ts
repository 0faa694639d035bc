// What evaluation needs and what it tells. The pool knows replicas only through ReplicaSource, so it runs the same
// over real processes and in simulation.
import type { BatchingPort, ReplicaSet, LoadStage } from '../nodeset/ports.ts';
import type {
  BatchView,
  EpisodeAttempt,
  PlannedEpisode,
  RunCounts,
  RunListItem,
  RunSummary,
  WorkerView,
} from '../contract/run.ts';
import type { ErrorInfo } from '../contract/error.ts';
import type { EventMap, EventName } from '../contract/api.ts';
import type { Diagnostic, GraphDefinition } from '../contract/graph.ts';
import type { GraphListItem } from '../contract/requests.ts';

export interface ReplicaSource {
  /** Slot k's first set, or a replacement for it. */
  start(slot: number, signal: AbortSignal): Promise<ReplicaSet>;
}

/** One try at one planned episode on one replica set. Never rejects for an episode's own failure. */
export interface EpisodeRunner {
  run(request: EpisodeRequest): Promise<EpisodeAttempt>;
}

export interface EpisodeRequest {
  readonly episode: PlannedEpisode;
  readonly attempt: number;
  /** Rises with every lease of the episode; a late answer of an older epoch is refused and counted. */
  readonly epoch: number;
  readonly worker: number;
  readonly replicas: ReplicaSet;
  readonly signal: AbortSignal;
  /** Called at each change of phase or step. The first `step` starts the episode's wall-clock limit. */
  readonly onPhase: (phase: WorkerView['phase'], step: number, stepBudget: number | null) => void;
  /** Once the environment stands at the episode; so that a timeout's row knows what it was about. */
  readonly onChosen?: (episode: EpisodeIdentity) => void;
  /** How to end the recording of an attempt that is ended from outside while the runner hangs. */
  readonly onRecording?: (end: EndRecording) => void;
}

/** Never rejects; what is recorded later is dropped, and asking again gives the same answer. */
export type EndRecording = () => Promise<EpisodeAttempt['recording']>;

export interface EpisodeIdentity {
  readonly episodeId: string | null;
  readonly sceneId: string | null;
  readonly instruction: string | null;
}

/** Where attempts become durable: a RunHandle, or memory in simulation. */
export interface AttemptJournal {
  /** From now on only a row with this token is accepted for the episode. */
  beginAttempt(ordinal: number): AttemptToken;
  /** Resolves when the row is durable; a rejected row is not in the journal. */
  append(attempt: EpisodeAttempt): Promise<void>;
}

export interface AttemptToken {
  readonly attempt: number;
  readonly epoch: number;
}

/** What a running batch tells; the run service turns it into contract events. */
export interface RunListener {
  onStage?(stage: LoadStage): void;
  /** Stage or status changed. */
  onState?(): void;
  onEpisodeStarted?(worker: number, episode: PlannedEpisode, attempt: number): void;
  /** After the attempt is durable. */
  onAttempt?(attempt: EpisodeAttempt): void;
  onWorkers?(workers: readonly WorkerView[]): void;
  onSummary?(summary: RunSummary): void;
  /** A slot used up its crash budget. */
  onSlotDown?(worker: number, reason: string): void;
}

export interface GuardHolder {
  readonly kind: 'canvas' | 'eval';
  /** Run id, or the file of the graph Play runs; empty while it has none. */
  readonly id: string;
  readonly label: string;
  /** Wall clock, milliseconds since 1970. */
  readonly sinceMs: number;
}

export type RunEnd =
  | {
      readonly status: 'completed' | 'completed_with_errors' | 'paused' | 'cancelled';
      readonly counts: RunCounts;
      readonly reason?: string;
      /** The status is on the disk; this kept the summary or the last file from being written. */
      readonly unwritten?: string;
    }
  | { readonly status: 'failed'; readonly counts: RunCounts; readonly error: ErrorInfo };

/** Where the run service's news go; the feed numbers and coalesces them. */
export interface EventSink {
  publish<Name extends EventName>(name: Name, payload: EventMap[Name]): void;
}

export interface LoadedGraph {
  readonly item: GraphListItem;
  /** The file as it is, kept with the run. */
  readonly text: string;
  readonly definition: GraphDefinition;
}

/** The graphs of workspace and library. */
export interface GraphSource {
  /** By name or path. Throws `not_found`, `graph_invalid` or `graph_too_large`. */
  load(ref: string): Promise<LoadedGraph>;
  /** A stored graph.json. Throws as `load` does. */
  parse(text: string): GraphDefinition;
  /** With the nodesets known now. */
  validate(definition: GraphDefinition): readonly Diagnostic[];
}

/** The ids of queued runs in order, kept across restarts. */
export interface QueueStorage {
  read(): Promise<readonly string[]>;
  write(runIds: readonly string[]): Promise<void>;
}

/** The batched tier of one run; disposed once its replicas are gone. */
export interface RunBatching extends BatchingPort, AsyncDisposable {
  /** Statistics per key, for the strip under the lanes. */
  views(): readonly BatchView[];
}

export interface MachineFacts {
  readonly cores: number;
  readonly memoryBytes: number;
  freeMemoryBytes(): number;
}

export type { RunListItem };
