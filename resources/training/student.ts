// The policy as an ONNX model, for many episodes at once: one forward pass gives every episode its next action.
import { InferenceSession, Tensor } from 'onnxruntime-node';

export const startAction = 4;
const actions = 4;

export interface StudentInput {
  /** (batch, 48, 64, 3) */
  readonly rgb: Uint8Array;
  /** (batch, 48) */
  readonly tokens: BigInt64Array;
  /** (batch); `startAction` at the first step. */
  readonly previous: BigInt64Array;
  /** (batch, hidden) */
  readonly hidden: Float32Array;
}

export interface StudentOutput {
  /** Most likely action of each episode. */
  readonly actions: Uint8Array;
  readonly hidden: Float32Array;
  /** Image columns, (batch, 16 x 64), when the model gives them. */
  readonly features: Uint8Array | undefined;
}

export interface Student {
  readonly hiddenSize: number;
  act(input: StudentInput): Promise<StudentOutput>;
}

export async function loadStudent(file: string, threads = 1): Promise<Student> {
  const session = await InferenceSession.create(file, { intraOpNumThreads: threads, interOpNumThreads: 1 });
  const hiddenSize = sizeOf(session, 'hidden_in');
  return {
    hiddenSize,
    async act({ rgb, tokens, previous, hidden }) {
      const batch = previous.length;
      const output = await session.run({
        rgb: new Tensor('uint8', rgb, [batch, 48, 64, 3]),
        tokens: new Tensor('int64', tokens, [batch, tokens.length / batch]),
        prev_action: new Tensor('int64', previous, [batch]),
        hidden_in: new Tensor('float32', hidden, [batch, hiddenSize]),
      });
      return {
        actions: bestActions(floats(output['logits']), batch),
        hidden: floats(output['hidden_out']),
        features: output['features']?.data instanceof Uint8Array ? output['features'].data : undefined,
      };
    },
  };
}

function sizeOf(session: InferenceSession, name: string): number {
  const input = session.inputMetadata.find((candidate) => candidate.name === name);
  const size = input?.isTensor ? input.shape[1] : undefined;
  if (typeof size !== 'number') throw new Error(`the model has no input ${name} of known size`);
  return size;
}

function floats(tensor: Tensor | undefined): Float32Array {
  if (tensor?.data instanceof Float32Array) return tensor.data;
  throw new Error('the model must give logits and hidden_out as float32');
}

function bestActions(logits: Float32Array, batch: number): Uint8Array {
  return Uint8Array.from({ length: batch }, (_unused, row) => {
    let best = 0;
    for (let i = 1; i < actions; i++)
      if (logits[row * actions + i]! > logits[row * actions + best]!) best = i;
    return best;
  });
}
