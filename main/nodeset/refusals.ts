// Why nodesets are not started for a graph, each with what to do.
import { StudioError, toStudioError } from '../base/errors.ts';
import type { NodesetVersion } from './version.ts';

export function unknownNodesets(names: readonly string[], known: readonly string[]): StudioError {
  const wanted = names.map((name) => `"${name}"`).join(', ');
  const list = known.length > 0 ? [...known].sort().join(', ') : 'none';
  return new StudioError(
    'nodeset_unknown',
    `no nodeset is named ${wanted}; known are: ${list}. Put it into the workspace's nodesets folder, or correct the graph`,
    {
      details: { unknown: [...names], known: [...known] },
    },
  );
}

/** Several workers on one panel would reset each other's episodes. */
export function refuseSharedEnvironment(versions: readonly NodesetVersion[], replicaCount: number): void {
  if (replicaCount <= 1) return;
  refuseAttached(versions, replicaCount);
  const environments = versions.map(({ manifest }) => manifest).filter((manifest) => manifest.hasEnvPanel);
  const [first] = environments;
  if (!first || environments.some((manifest) => manifest.parallelism === 'replicated')) return;
  throw new StudioError(
    'unsupported',
    `the environment "${first.name}" is shared, so ${replicaCount} workers would reset each other's episodes; give it parallelism "replicated", or use one worker`,
    {
      details: { nodeset: first.name, replicaCount },
    },
  );
}

/** The server has one instance of it, and it is not the app's to start another. */
function refuseAttached(versions: readonly NodesetVersion[], replicaCount: number): void {
  const attached = versions.find(
    ({ source, manifest }) =>
      source.origin === 'attached' && (manifest.hasEnvPanel || manifest.parallelism === 'replicated'),
  );
  if (!attached) return;
  const { name, entry } = attached.source;
  throw new StudioError(
    'unsupported',
    `"${name}" is attached at ${entry} and serves one worker, not ${replicaCount}: the server has one instance of it; use one worker, or load the nodeset from its file`,
    { details: { nodeset: name, replicaCount } },
  );
}

/** What a graph's start reports: one code for all that can befall its nodesets, with the first failure as cause. */
export function startRefused(
  involved: readonly Pick<NodesetVersion, 'source'>[],
  thrown: unknown,
): StudioError {
  const error = toStudioError(thrown, 'nodeset_failed');
  if (['aborted', 'untrusted', 'nodeset_failed'].includes(error.code)) return error;
  const names = involved.map(({ source }) => source.name).join(', ');
  return new StudioError('nodeset_failed', `${error.message} (while starting ${names})`, {
    cause: error,
    scope: { phase: 'start', ...error.scope },
    details: { ...error.details, causeCode: error.code },
  });
}
