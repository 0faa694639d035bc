// What engine and model host agree on: facts of a model file, and how samples become its inputs. JSON all the way.
import type { DType } from '../../base/tensor.ts';

export interface TensorFacts {
  readonly name: string;
  /** A dtype, or another type of ONNX that policies cannot use. */
  readonly dtype: DType | (string & {});
  /** Texts are dynamic extents. */
  readonly shape: readonly (number | string)[];
}

export interface ModelFacts {
  readonly inputs: readonly TensorFacts[];
  readonly outputs: readonly TensorFacts[];
}

export type Layout = 'as_is' | 'hwc_to_chw' | 'chw_to_hwc';

export interface InputPlan {
  readonly name: string;
  readonly dtype: DType;
  /** Of one sample, without the batch axis; null is dynamic. */
  readonly shape: readonly (number | null)[];
  readonly batchAxis: number;
  readonly layout: Layout;
  /** Null: the numbers go in as they are. */
  readonly normalise: Normalisation | null;
}

/** (value x scale - mean) / std; one number, or one per channel. */
export interface Normalisation {
  readonly scale: number;
  readonly mean: readonly number[];
  readonly std: readonly number[];
  /** Where the channels are in one sample as the model takes it. */
  readonly channels: 'first' | 'last';
}

export interface OutputPlan {
  readonly name: string;
  readonly batchAxis: number;
}

export interface BindingPlan {
  readonly inputs: readonly InputPlan[];
  readonly outputs: readonly OutputPlan[];
  /** False: the file is fixed to one sample; the host then runs it once per sample. */
  readonly takesBatches: boolean;
}
