// What a registry of nodesets is made of.
import type { Logger } from '../base/logger.ts';
import type { Attachment } from '../contract/settings.ts';
import type { DescriberOptions } from './describe.ts';
import type { PythonEnvironments } from './environments/python-environments.ts';
import type { InterpreterChoice } from './interpreter-choice.ts';
import type { EngineNodes } from './ports.ts';
import type { NodesetFolder, PythonFinder } from './scan.ts';
import type { PlaceChecker } from './spawners/check-place.ts';
import type { NodesetRuntime } from './start-live.ts';
import type { TrustPort } from './trust.ts';

export interface NodesetRegistryOptions {
  /** In order of precedence, lowest first: library, then workspace. */
  readonly folders: readonly NodesetFolder[];
  readonly cacheFolder: string;
  readonly builtins: EngineNodes;
  readonly isTrusted: TrustPort;
  readonly runtime: Omit<NodesetRuntime, 'logSinkFor'>;
  readonly logger: Logger;
  readonly findPython?: PythonFinder | undefined;
  readonly authorModule?: string | undefined;
  readonly describeMs?: DescriberOptions['describeMs'];
  /** Without it a Python nodeset gets what its launcher resolves, and no environment is built. */
  readonly interpreters?: InterpreterChoice | undefined;
  readonly environments?: PythonEnvironments | undefined;
  readonly checkPlace?: PlaceChecker | undefined;
  /** Servers at URLs, from Settings. */
  readonly attachments?: (() => readonly Attachment[]) | undefined;
}
