// Writes ONNX files: just enough of the protobuf format (onnx.proto3, IR 8) for models made by tests and benchmarks.
import type { DType } from '../../base/tensor.ts';

/** Numbers of TensorProto.DataType. */
const elementTypes = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
} as const satisfies Partial<Record<DType, number>>;

export type OnnxType = keyof typeof elementTypes;

export interface OnnxValue {
  readonly name: string;
  readonly type: OnnxType;
  /** A text is a dynamic extent. */
  readonly shape: readonly (number | string)[];
}

export interface OnnxConstant {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array;
}

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Numbers with a fraction are written with `float`. */
  readonly attributes?: Readonly<Record<string, number | readonly number[] | { readonly float: number }>>;
}

export interface OnnxModel {
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly constants: readonly OnnxConstant[];
  readonly nodes: readonly OnnxNode[];
}

/** The bytes of a `.onnx` file, operator set 17. */
export function encodeOnnx(model: OnnxModel): Uint8Array {
  const graph = join([
    ...model.nodes.map((node) => message(1, encodeNode(node))),
    text(2, 'graph'),
    ...model.constants.map((constant) => message(5, encodeConstant(constant))),
    ...model.inputs.map((value) => message(11, encodeValue(value))),
    ...model.outputs.map((value) => message(12, encodeValue(value))),
  ]);
  return join([integer(1, 8), text(2, 'tests'), message(7, graph), message(8, integer(2, 17))]);
}

function encodeNode({ op, inputs, outputs, attributes = {} }: OnnxNode): Uint8Array {
  return join([
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) =>
      message(5, join([text(1, name), encodeAttribute(value)])),
    ),
  ]);
}

function encodeAttribute(value: number | readonly number[] | { readonly float: number }): Uint8Array {
  if (typeof value === 'number') return join([integer(3, value), integer(20, 2)]);
  if ('float' in value) {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value.float, true);
    return join([tag(2, 5), bytes, integer(20, 1)]);
  }
  return join([...value.map((each) => integer(8, each)), integer(20, 7)]);
}

function encodeConstant({ name, shape, data }: OnnxConstant): Uint8Array {
  const type = data instanceof Float32Array ? elementTypes.float32 : elementTypes.int64;
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return join([
    ...shape.map((extent) => integer(1, extent)),
    integer(2, type),
    text(8, name),
    message(9, bytes),
  ]);
}

function encodeValue({ name, type, shape }: OnnxValue): Uint8Array {
  const extents = shape.map((extent) =>
    message(1, typeof extent === 'number' ? integer(1, extent) : text(2, extent)),
  );
  const tensor = join([integer(1, elementTypes[type]), message(2, join(extents))]);
  return join([text(1, name), message(2, message(1, tensor))]);
}

function tag(field: number, wireType: number): Uint8Array {
  return varint((field << 3) | wireType);
}

function integer(field: number, value: number): Uint8Array {
  return join([tag(field, 0), varint(value)]);
}

function text(field: number, value: string): Uint8Array {
  return message(field, new TextEncoder().encode(value));
}

function message(field: number, content: Uint8Array): Uint8Array {
  return join([tag(field, 2), varint(content.byteLength), content]);
}

/** Negative numbers as 64-bit two's complement, as protobuf has them. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.byteLength;
  }
  return result;
}
