// Hot path. The texts that head frames (docs/host-protocol.md, Frames and Firing again) and what is read from them.
import { StudioError } from '../base/errors.ts';
import type { CallOptions, RepeatedFiring } from './ports.ts';
import { encodeValue } from './values.ts';

export type FrameHeader = Readonly<Record<string, unknown>> | readonly unknown[];

/** `params` as `encodeValue` gives it. */
export function callText(
  id: number,
  method: string,
  params: unknown,
  { onBehalfOf, channel }: CallOptions,
): string {
  const parent = onBehalfOf === undefined ? '' : `,"c":${onBehalfOf}`;
  const slot = channel === undefined ? '' : `,"s":${channel}`;
  return `{"t":"call","id":${id}${parent}${slot},"m":${JSON.stringify(method)},"p":${JSON.stringify(params)}}`;
}

/** The call of a node that the host knows by its handle. */
export function firingText(
  id: number,
  { handle, step, seed, inputs }: RepeatedFiring,
  segments: Uint8Array[],
): string {
  return `[${id},${handle},${step},${seed},${JSON.stringify(encodeValue(inputs, segments))}]`;
}

export function isList(header: FrameHeader): header is readonly unknown[] {
  return Array.isArray(header);
}

/** Call id and outputs of the short answer. */
export function shortAnswerOf(header: readonly unknown[]): {
  readonly id: number;
  readonly outputs: unknown;
} {
  const [id, outputs] = header;
  if (header.length !== 2) throw new StudioError('protocol_error', 'a list that is no answer of a firing');
  return { id: validId(id), outputs };
}

export function idOf(header: Readonly<Record<string, unknown>>, member = 'id'): number {
  return validId(header[member]);
}

function validId(id: unknown): number {
  if (!Number.isSafeInteger(id)) throw new StudioError('protocol_error', 'a frame without a valid call id');
  return id as number;
}

export function textOf(header: Readonly<Record<string, unknown>>, member: string): string {
  const text = header[member];
  if (typeof text !== 'string') throw new StudioError('protocol_error', 'a frame without a method name');
  return text;
}
