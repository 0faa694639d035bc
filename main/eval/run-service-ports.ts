// What the run service is given, and what of it one session of a run gets.

import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { GraphDefinition } from '../contract/graph.ts';
import type { Provenance, RunRecord } from '../contract/run.ts';
import type { Settings } from '../contract/settings.ts';
import type { HookRunner } from '../graph/hooks.ts';
import type { ChatService, RunChatOptions } from '../llm/ports.ts';
import type { NodesetRegistry } from '../nodeset/ports.ts';
import type { RunHandle, RunStore } from '../store/ports.ts';
import type { BatchPorts } from './batch-eval-runner.ts';
import type { ExecutionGuard } from './execution-guard.ts';
import type { EventSink, GraphSource, MachineFacts, QueueStorage, RunBatching } from './ports.ts';
import type { PreflightPorts } from './preflight.ts';
import { createEpisodeRunner, type RecordingPort } from './run-episode.ts';

export interface RunServicePorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: RunStore;
  readonly registry: NodesetRegistry;
  readonly guard: ExecutionGuard;
  readonly graphs: GraphSource;
  readonly events: EventSink;
  readonly queueStorage: QueueStorage;
  readonly machine: MachineFacts;
  readonly settings: () => Settings;
  readonly newRunId: () => string;
  /** Number of the last event sent. */
  readonly sequence: () => number;
  /** Adds versions, host and hardware. */
  readonly provenance: (
    known: Pick<Provenance, 'graphHash' | 'nodesets'> & { readonly definition: GraphDefinition },
  ) => Promise<Provenance>;
  readonly hooks?: HookRunner | null;
  readonly batching?: ((run: RunRecord) => RunBatching) | undefined;
  readonly recording?: ((handle: RunHandle) => RecordingPort) | undefined;
  readonly missingKeys?: PreflightPorts['missingKeys'];
  readonly chat?: Pick<ChatService, 'openRun'> | undefined;
  /** Takes secrets out of plain data. */
  readonly redact?: (<Value>(value: Value) => Value) | undefined;
  /** Queued runs wait for `releaseQueue`: a process that ends soon must not start what it cannot finish. */
  readonly holdQueue?: boolean;
}

/** Read at the start of a session: a change of the settings holds from the next one on. */
export function batchPortsOf(ports: RunServicePorts, handle: RunHandle): BatchPorts {
  const { clock, logger, registry, settings, store, hooks = null, batching, recording, chat, redact } = ports;
  return {
    clock,
    logger,
    registry,
    settings: settings(),
    freeBytes: () => store.freeBytes(),
    batching: batching?.(handle.record),
    redact,
    openChat: chat && (() => chat.openRun(runChatOptions(handle, store))),
    createEpisodeRunner: ({ graph, environment }) =>
      createEpisodeRunner({
        runId: handle.record.runId,
        graph,
        environment,
        config: handle.record.config,
        metrics: handle.record.metrics,
        defaultStepBudget: handle.record.stepBudget ?? 1000,
        clock,
        hooks,
        recording: recording?.(handle),
      }),
  };
}

function runChatOptions({ record, folder }: RunHandle, store: RunStore): RunChatOptions {
  const folderOf = (runId: string): string => store.folderOf(runId);
  return { runId: record.runId, config: record.config.chat, folder, folderOf };
}
