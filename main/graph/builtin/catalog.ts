// The node types every graph has without loading anything.
import type { NodeManifest } from '../../contract/nodeset.ts';
import type { ManifestSource, NodeCatalog, NodeHandler, NodeType, PortValues } from '../ports.ts';
import type { ChatPort } from './chat-port.ts';
import { bindHistoryLog, historyLogManifest } from './history-log.ts';
import { bindChatNode, chatNodeManifest } from './llm-call.ts';
import { emptySource, iterInHandler, passThrough, pivotManifests } from './pivots.ts';
import { bindTextParse, textParseManifest } from './text-parse.ts';
import { sink, viewerManifests } from './viewers.ts';

export interface BuiltinPorts {
  /** Answers chat nodes; without it they fail with a message that says so. */
  readonly chat?: ChatPort;
}

export const builtinManifests: readonly NodeManifest[] = [
  ...pivotManifests,
  chatNodeManifest,
  textParseManifest,
  historyLogManifest,
  ...viewerManifests,
];

const manifestByType = new Map(builtinManifests.map((entry) => [entry.nodeType, entry]));

export const builtinManifestSource: ManifestSource = {
  manifestOf: (nodeType) => manifestByType.get(nodeType),
};

type Bind = (nodeId: string, config: PortValues) => NodeHandler;

/** The built-in types as a catalog; a session's catalog looks here first. */
export function createBuiltinCatalog(ports: BuiltinPorts = {}): NodeCatalog {
  const always =
    (handler: NodeHandler): Bind =>
    () =>
      handler;
  const binds: Readonly<Record<string, Bind>> = {
    iterIn: always(iterInHandler),
    iterOut: always(passThrough),
    graphIn: always(passThrough),
    graphOut: always(passThrough),
    nullSource: always(emptySource),
    textParse: (_nodeId, config) => bindTextParse(config),
    historyLog: (_nodeId, config) => bindHistoryLog(config),
    llmCall: (nodeId, config) => bindChatNode(nodeId, config, ports.chat),
  };
  const types = new Map<string, NodeType>(
    builtinManifests.map((entry) => [
      entry.nodeType,
      { manifest: entry, bind: binds[entry.nodeType] ?? always(sink) },
    ]),
  );
  return { lookup: (nodeType) => types.get(nodeType) };
}

/** Built-ins in front of what nodesets provide. */
export function withBuiltins(catalog: NodeCatalog, ports: BuiltinPorts = {}): NodeCatalog {
  const builtins = createBuiltinCatalog(ports);
  return { lookup: (nodeType) => builtins.lookup(nodeType) ?? catalog.lookup(nodeType) };
}

export function manifestsWithBuiltins(source: ManifestSource): ManifestSource {
  return { manifestOf: (nodeType) => manifestByType.get(nodeType) ?? source.manifestOf(nodeType) };
}
