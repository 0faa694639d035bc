// The byte layout of a frame (docs/host-protocol.md): the one place that knows offsets and limits.

export const prefixBytes = 16;
export const magicAndVersion = 0x00_01_43_41; // "AC", version 1, flags 0, read as one little-endian word
export const protocolVersion = 1;

export interface FrameLimits {
  readonly headerBytes: number;
  readonly frameBytes: number;
}

export const frameLimits: FrameLimits = { headerBytes: 64 * 2 ** 20, frameBytes: 2 ** 30 };
export const mostSegments = 65_535;

/** The next multiple of 8. */
export function padded(byteLength: number): number {
  return byteLength + (-byteLength & 7);
}
