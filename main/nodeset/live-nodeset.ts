// Running nodesets: what sessions hand out of them. A shared one serves all workers, a replica one.
import type { StudioError } from '../base/errors.ts';
import type { EvalMetadata, NodesetManifest } from '../contract/nodeset.ts';
import type { NodeType } from '../graph/ports.ts';
import type { HostProcess } from '../process/ports.ts';
import type { BatchBackend, CallLimits, EnvPanelClient } from './ports.ts';

interface RunningNodeset {
  readonly manifest: NodesetManifest;
  readonly nodeTypes: readonly NodeType[];
  readonly panel: EnvPanelClient | undefined;
  /** Null when the nodeset has none. */
  evalMetadata(limits?: CallLimits): Promise<EvalMetadata | null>;
  /** Never throws. */
  endExecution(executionId: string): void;
}

/** Disposing it ends it. */
export interface LiveNodeset extends RunningNodeset, AsyncDisposable {
  /** Undefined where the node takes no batches. */
  batchBackend(nodeType: string): BatchBackend | undefined;
  /** Its process, if it has one and it runs. */
  readonly host: HostProcess | undefined;
}

export interface ReplicaNodeset extends RunningNodeset {
  /** `name#k` */
  readonly instance: string;
  readonly host: HostProcess;
  /** Why it must not be used any more. */
  broken(): StudioError | undefined;
  /** Asks, then ends it. Never rejects. */
  stop(): Promise<void>;
  /** Ends it now. Never rejects. */
  kill(): Promise<void>;
  /** It is not wanted after all: as `kill`, but those who share its process go on. */
  withdraw(): Promise<void>;
}
