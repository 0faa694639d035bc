// What a run ran on, beyond the machine: the model files its graph names, and the interpreters of its Python nodesets
// with the versions of their packages. What cannot be found out in time is left out; a run never waits for it longer.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { z } from 'zod';
import type { GraphDefinition } from './contract/graph.ts';
import type { NodesetSummary } from './contract/nodeset.ts';
import type { Provenance } from './contract/run.ts';
import { allNodes, requiredNodesets } from './graph/graph-tools.ts';
import { findModel, type ModelFolders } from './inference/onnx/model-file.ts';
import type { BulkWork } from './store/bulk-work.ts';
import { collectProvenance } from './store/provenance.ts';
import { appVersion } from './version.ts';

export interface RunProvenanceOptions {
  readonly folders: ModelFolders;
  readonly nodesets: () => readonly NodesetSummary[];
  /** Files are read there. */
  readonly bulk: Pick<BulkWork, 'run'>;
}

export interface KnownFacts extends Pick<Provenance, 'graphHash' | 'nodesets'> {
  readonly definition: GraphDefinition;
}

export function createRunProvenance(
  options: RunProvenanceOptions,
): (known: KnownFacts) => Promise<Provenance> {
  const { folders } = options;
  return async ({ definition, graphHash, nodesets }) => {
    const [models, interpreters] = await Promise.all([
      modelsOf(options, definition),
      interpretersOf(options, definition),
    ]);
    const known = { graphHash, nodesets, models, interpreters };
    return collectProvenance({ ...known, appVersion, workspaceFolder: folders.workspace });
  };
}

const weights = /\.(?:onnx|pt|pth|ckpt|safetensors|gguf|npz|pkl|joblib)$/i;

/** Values of the graph that name a file of weights: of `policy_onnx`, and of policies that take a checkpoint. */
export function modelReferences(definition: GraphDefinition): readonly string[] {
  const references = new Set<string>();
  for (const { node } of allNodes(definition))
    for (const value of Object.values(node.config))
      if (typeof value === 'string' && weights.test(value)) references.add(value);
  return [...references];
}

async function modelsOf(
  { folders, bulk }: RunProvenanceOptions,
  definition: GraphDefinition,
): Promise<Provenance['models']> {
  const found = await Promise.all(
    modelReferences(definition).map(async (reference) => {
      try {
        const { path: file } = await findModel(reference, folders);
        return [{ path: reference, hash: await bulk.run('hashFile', { path: file }) }];
      } catch {
        // A model that is not there stops the run with its own words; one of another machine is that machine's.
        return [];
      }
    }),
  );
  return found.flat();
}

const interpreterTimeoutMs = 3000;
const askPackages = `import json, platform
from importlib import metadata
print(json.dumps({'version': platform.python_version(), 'packages': {d.metadata['Name']: d.version for d in metadata.distributions() if d.metadata['Name']}}))`;
const packagesAnswer = z.object({ version: z.string(), packages: z.record(z.string(), z.string()) });

async function interpretersOf(
  { nodesets }: RunProvenanceOptions,
  definition: GraphDefinition,
): Promise<Provenance['interpreters']> {
  const names = requiredNodesets(definition);
  const used = nodesets().filter(({ name, language }) => language === 'python' && names.includes(name));
  const programs = new Set(used.flatMap(({ interpreterPath }) => interpreterPath ?? []));
  const known = await Promise.all([...programs].map(packagesOf));
  return known.flat();
}

/** Empty when it does not answer in time. */
function packagesOf(interpreter: string): Promise<Provenance['interpreters']> {
  const options = {
    cwd: path.dirname(interpreter),
    timeout: interpreterTimeoutMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
    maxBuffer: 4 * 2 ** 20,
  } as const;
  return new Promise((resolve) => {
    // -I: neither the folder it starts in nor the user's own packages change what it sees.
    execFile(interpreter, ['-I', '-c', askPackages], options, (error, stdout) => {
      if (error) return resolve([]);
      try {
        resolve([{ path: interpreter, ...packagesAnswer.parse(JSON.parse(stdout)) }]);
      } catch {
        resolve([]);
      }
    });
  });
}
