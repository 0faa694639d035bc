// What a step of a recording looks like from outside: its pictures, the action taken, where the agent stands. Found by
// the names and forms environments commonly give, because a log says nothing about wire types.
import type { RecordedMap, RecordedStep } from '../contract/replay.ts';
import { assetOf, type AddressOf } from './recorded-values.ts';
import { arrayCell, type LogLine, type ReplayHeader } from './recording-format.ts';

export interface StepInput {
  readonly step: number;
  readonly firings: number;
  readonly rows: readonly LogLine[];
  readonly streams: ReplayHeader['streams'];
  readonly addressOf: AddressOf;
}

export function stepOf({ step, firings, rows, streams, addressOf }: StepInput): RecordedStep {
  const images = new Map<number, RecordedStep['images'][number]>();
  let action: string | null = null;
  let position: number[] | null = null;
  for (const row of rows) {
    for (const [port, value] of Object.entries(row.out ?? {})) {
      if (port === 'action') action = actionText(value) ?? action;
      if (port === 'pose' || port === 'state') position = positionOf(value) ?? position;
      const stream = streams.findIndex((known) => known.nodeId === row.node && known.port === port);
      const image = stream < 0 ? null : imageOf(value, addressOf);
      if (image) images.set(stream, { stream, ...image });
    }
  }
  return {
    step,
    firings,
    atMs: rows.at(-1)?.at ?? 0,
    errors: rows.filter(({ error }) => error !== undefined).length,
    images: [...images.values()],
    action,
    position,
  };
}

function imageOf(
  value: unknown,
  addressOf: AddressOf,
): Omit<RecordedStep['images'][number], 'stream'> | null {
  const { asset: name, bytes, low = null, high = null } = arrayCell.safeParse(value).data?.$array ?? {};
  const asset = assetOf(name, bytes, addressOf);
  return asset && { asset, low, high };
}

const longestAction = 80;

function actionText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const data = arrayCell.safeParse(value).data?.$array.data;
  const text = typeof value === 'string' ? value : JSON.stringify(data ?? value);
  return text.length > longestAction ? `${text.slice(0, longestAction)}…` : text;
}

/** `position` of a pose or state, two or three numbers. */
export function positionOf(value: unknown): number[] | null {
  if (typeof value !== 'object' || value === null || !('position' in value)) return null;
  const data = arrayCell.safeParse(value.position).data?.$array.data ?? value.position;
  if (!Array.isArray(data) || data.length < 2) return null;
  const numbers = data.slice(0, 3).map(Number);
  return numbers.every(Number.isFinite) ? numbers : null;
}

/** What is not of the expected form is left out: the map is drawn from what is there. Null when there is nothing. */
export function mapOf(header: ReplayHeader, addressOf: AddressOf): RecordedMap | null {
  const map = header.map ?? {};
  const path = header.track.flatMap(([step, x, y, heading]) =>
    typeof step === 'number' && typeof x === 'number' && typeof y === 'number'
      ? [{ step, x, y, heading: heading ?? null }]
      : [],
  );
  if (header.map === null && path.length === 0) return null;
  const bounds = numbersOf(map['bounds']);
  return {
    bounds: bounds.length === 4 ? bounds : null,
    rooms: boxesOf(map['rooms']),
    obstacles: [...boxesOf(map['landmarks']), ...boxesOf(map['obstacles']), ...boxesOf(map['doors'])],
    start: pointOf(map['start']),
    goal: pointOf(map['goal']),
    referencePath: listOf(map['reference_path'])
      .map(pointOf)
      .filter((point) => point !== null),
    path,
    image: assetOf(header.mapImage ?? undefined, undefined, addressOf),
  };
}

const mostBoxes = 5000;

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, mostBoxes) : [];
}

function numbersOf(value: unknown): number[] {
  const numbers = listOf(value).map(Number);
  return numbers.every(Number.isFinite) ? numbers : [];
}

function pointOf(value: unknown): number[] | null {
  const numbers = numbersOf(value);
  return numbers.length >= 2 && numbers.length <= 3 ? numbers : null;
}

function boxesOf(value: unknown): RecordedMap['rooms'] {
  return listOf(value).flatMap((item) => {
    if (typeof item !== 'object' || item === null || !('box' in item)) return [];
    const box = numbersOf(item.box);
    const name = 'name' in item ? item.name : 'colour' in item ? `${String(item.colour)} door` : '';
    return box.length === 4 ? [{ name: String(name), box }] : [];
  });
}
