// Between what hosts say (snake_case, sometimes loosely) and the contract's types. Border: everything is parsed,
// and what does not fit is a `remote_error` that names the host.
import { z } from 'zod';
import { evalMetadata, nodesetManifest, panelInfo, panelState } from '../contract/nodeset.ts';
import type { EvalMetadata, NodesetManifest, PanelInfo, PanelState } from '../contract/nodeset.ts';
import { fromFileCase, toFileCase } from '../contract/casing.ts';
import { StudioError } from '../base/errors.ts';
import { metricOf } from './metric-table.ts';

const statedMetric = z.union([
  z.string(),
  z.looseObject({
    name: z.string(),
    unit: z.string().optional(),
    kind: z.enum(['rate', 'mean', 'count']).optional(),
    higherIsBetter: z.boolean().nullable().optional(),
    worst: z.number().nullable().optional(),
  }),
]);
const looseMetadata = z.looseObject({ metrics: z.array(statedMetric).nullish() });

export function manifestToWire(manifest: NodesetManifest): unknown {
  return toFileCase(nodesetManifest, manifest);
}

export function manifestFromWire(wire: unknown, host: string): NodesetManifest {
  return parsed(nodesetManifest, fromFileCase(nodesetManifest, wire), { host, what: 'manifest' });
}

export function panelInfoToWire(info: unknown): unknown {
  return toFileCase(panelInfo, info);
}

export function panelInfoFromWire(wire: unknown, host: string): PanelInfo {
  return parsed(panelInfo, fromFileCase(panelInfo, wire), { host, what: 'description of its panel' });
}

export function panelStateToWire(state: unknown): unknown {
  return toFileCase(panelState, state);
}

/** Ids may come as numbers, and as `instr_id` and `scan`. */
export function panelStateFromWire(wire: unknown, host: string): PanelState {
  const state = fromFileCase(panelState, wire);
  return parsed(panelState, withEpisodeIds(state), { host, what: 'panel state' });
}

export function evalMetadataToWire(metadata: EvalMetadata | null): unknown {
  return metadata === null ? null : toFileCase(evalMetadata, metadata);
}

/** Null stays null: a nodeset that has no metadata cannot be evaluated. */
export function evalMetadataFromWire(wire: unknown, host: string): EvalMetadata | null {
  if (wire === null || wire === undefined) return null;
  return normaliseEvalMetadata(fromFileCase(evalMetadata, wire), host);
}

/** An author's EvalMetadataSpec (plain metric names allowed) in full form. */
export function normaliseEvalMetadata(stated: unknown, host: string): EvalMetadata {
  const what = 'evaluation metadata';
  const loose = parsed(looseMetadata, stated, { host, what });
  const metrics = (loose.metrics ?? []).map((metric) => metricOf(metric));
  const repeated = metrics.find(
    (metric, index) => metrics.findIndex((other) => other.name === metric.name) < index,
  );
  if (repeated)
    throw new StudioError(
      'remote_error',
      `${host}: its ${what} lists the metric "${repeated.name}" twice; remove one`,
    );
  const splits = loose['splits'] ?? undefined;
  return parsed(evalMetadata, { ...loose, splits, metrics }, { host, what });
}

function withEpisodeIds(state: unknown): unknown {
  if (!isRecord(state) || !isRecord(state['currentEpisode'])) return state;
  const episode = state['currentEpisode'];
  const currentEpisode = {
    ...episode,
    episodeId: textOrNull(episode['episodeId'] ?? episode['instrId']),
    sceneId: textOrNull(episode['sceneId'] ?? episode['scan']),
  };
  return { ...state, currentEpisode };
}

function textOrNull(id: unknown): unknown {
  if (id === undefined || id === null) return null;
  return typeof id === 'number' || typeof id === 'bigint' ? String(id) : id;
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  from: { host: string; what: string },
): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [first] = result.error.issues;
  const where = first && first.path.length > 0 ? ` at ${first.path.join('.')}` : '';
  throw new StudioError(
    'remote_error',
    `${from.host}: its ${from.what} is not of the right form${where}: ${first?.message ?? 'unknown'}`,
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
