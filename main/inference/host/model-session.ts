// One model file in this process: loaded, bound to plans, run. Runs follow one another, as the library blocks the thread
// for each; that is why this is a process of its own.
import type * as Onnx from 'onnxruntime-node';
import { StudioError, messageOf } from '../../base/errors.ts';
import { Tensor, dtypes, type DType, type TensorData } from '../../base/tensor.ts';
import type { BindingPlan, ModelFacts, TensorFacts } from '../onnx/plan.ts';
import { InputConverter, batchFirst, type ModelTensor } from './convert.ts';

export interface SessionChoice {
  readonly file: string;
  readonly provider: string;
  readonly threads: number;
}

export type Columns = Readonly<Record<string, Tensor>>;

interface Binding {
  readonly plan: BindingPlan;
  readonly converters: ReadonlyMap<string, InputConverter>;
}

export class ModelSession {
  readonly facts: ModelFacts;
  readonly #runtime: typeof Onnx;
  readonly #session: Onnx.InferenceSession;
  readonly #bindings: Binding[] = [];
  #last: Promise<unknown> = Promise.resolve();

  private constructor(runtime: typeof Onnx, session: Onnx.InferenceSession) {
    this.#runtime = runtime;
    this.#session = session;
    this.facts = { inputs: session.inputMetadata.map(factsOf), outputs: session.outputMetadata.map(factsOf) };
  }

  static async open({ file, provider, threads }: SessionChoice): Promise<ModelSession> {
    const runtime = await importRuntime();
    const offered = runtime.listSupportedBackends().map(({ name }) => name);
    if (!offered.includes(provider)) throw missingProvider(provider, offered);
    try {
      const session = await runtime.InferenceSession.create(file, {
        executionProviders: [provider],
        graphOptimizationLevel: 'all',
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
      });
      return new ModelSession(runtime, session);
    } catch (error) {
      const reason = firstLine(error);
      if (provider !== 'cpu' && isProviderFailure(reason)) throw missingProvider(provider, offered, reason);
      throw new StudioError('model_failed', `${file} cannot be loaded: ${reason}`, { cause: error });
    }
  }

  /** The number the plan is called by from now on. Runs it once on zeros where its extents are known. */
  async bind(plan: BindingPlan): Promise<number> {
    const converters = new Map(plan.inputs.map((input) => [input.name, new InputConverter(input)]));
    const number = this.#bindings.push({ plan, converters }) - 1;
    if (plan.inputs.some(({ shape }) => shape.includes(null))) return number;
    const zeros = plan.inputs.map(({ name, dtype, shape, batchAxis }) => {
      const size = shape.reduce<number>((product, extent) => product * (extent ?? 1), 1);
      const dims = [...shape.slice(0, batchAxis), 1, ...shape.slice(batchAxis)].map((extent) => extent ?? 1);
      const item = new Tensor(dtype, [0], new Uint8Array(0)).data.BYTES_PER_ELEMENT;
      return [
        name,
        { dtype, dims, data: new Tensor(dtype, dims, new Uint8Array(size * item)).data },
      ] as const;
    });
    await this.#inTurn(() => this.#run(plan, new Map(zeros), 1));
    return number;
  }

  /** Columns hold one sample behind the other; so do the outputs. */
  infer(number: number, columns: Columns, count: number): Promise<Columns> {
    const binding = this.#bindings[number];
    if (!binding) throw new StudioError('protocol_error', `no binding ${number} in this model host`);
    return this.#inTurn(() =>
      binding.plan.takesBatches
        ? this.#inferAll(binding, columns, count)
        : this.#inferEach(binding, columns, count),
    );
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #inferAll({ plan, converters }: Binding, columns: Columns, count: number): Promise<Columns> {
    const feeds = new Map<string, ModelTensor>();
    for (const [name, converter] of converters) {
      const column = columns[name];
      if (!column) throw new StudioError('protocol_error', `no samples for the input "${name}"`);
      feeds.set(name, converter.convert(column));
    }
    return await this.#run(plan, feeds, count);
  }

  /** A file exported for one sample at a time. */
  async #inferEach(binding: Binding, columns: Columns, count: number): Promise<Columns> {
    const rows: Columns[] = [];
    for (let index = 0; index < count; index++) {
      const row = Object.fromEntries(
        Object.entries(columns).map(([name, column]) => [name, rowOf(column, index)]),
      );
      rows.push(await this.#inferAll(binding, row, 1));
    }
    return Object.fromEntries(
      binding.plan.outputs.map(({ name }) => [name, stacked(rows.map((row) => row[name]))]),
    );
  }

  async #run(plan: BindingPlan, inputs: ReadonlyMap<string, ModelTensor>, count: number): Promise<Columns> {
    const feeds: Record<string, Onnx.Tensor> = {};
    for (const [name, { dtype, data, dims }] of inputs)
      feeds[name] = new this.#runtime.Tensor(dtype as Onnx.Tensor.Type, data as Onnx.Tensor.DataType, dims);
    let results: Onnx.InferenceSession.ReturnType;
    try {
      results = await this.#session.run(
        feeds,
        plan.outputs.map(({ name }) => name),
      );
    } catch (error) {
      throw new StudioError('model_failed', `the model does not run: ${firstLine(error)}`, { cause: error });
    }
    const columns: Record<string, Tensor> = {};
    for (const output of plan.outputs)
      columns[output.name] = batchFirst(modelTensorOf(results[output.name], output.name), output, count);
    return columns;
  }
}

async function importRuntime(): Promise<typeof Onnx> {
  try {
    const module = await import('onnxruntime-node');
    return module.default ?? module;
  } catch (error) {
    throw new StudioError(
      'unsupported',
      `onnxruntime-node does not load on ${process.platform} ${process.arch}: ${firstLine(error)}; install it with npm install, or run the policy in a Python nodeset`,
      { cause: error },
    );
  }
}

function missingProvider(
  provider: string,
  offered: readonly string[],
  reason = 'this build of onnxruntime-node lacks it',
): StudioError {
  return new StudioError(
    'unsupported',
    `the execution provider "${provider}" is not usable here: ${reason}. Set provider to "cpu" on the node, or install what it needs; this build knows ${offered.join(', ')}`,
    { details: { provider, offered: [...offered] } },
  );
}

function isProviderFailure(reason: string): boolean {
  return /provider|adapter|backend|shared library|cuda|gpu|device/i.test(reason);
}

const typeNames: ReadonlySet<string> = new Set(dtypes);

function factsOf(metadata: Onnx.InferenceSession.ValueMetadata): TensorFacts {
  if (!metadata.isTensor) return { name: metadata.name, dtype: 'no tensor', shape: [] };
  return { name: metadata.name, dtype: metadata.type, shape: metadata.shape.map((extent) => extent) };
}

function modelTensorOf(value: Onnx.Tensor | undefined, name: string): ModelTensor {
  if (!value || !typeNames.has(value.type))
    throw new StudioError(
      'model_failed',
      `output "${name}" holds ${value?.type ?? 'nothing'}; only numbers can be used`,
    );
  return { dtype: value.type as DType, data: value.data as TensorData, dims: value.dims };
}

function rowOf({ dtype, shape, bytes }: Tensor, index: number): Tensor {
  const [count = 1, ...rest] = shape;
  const size = bytes.byteLength / count;
  return new Tensor(dtype, [1, ...rest], bytes.subarray(index * size, (index + 1) * size));
}

function stacked(rows: readonly (Tensor | undefined)[]): Tensor {
  const [first] = rows;
  if (!first) throw new StudioError('internal', 'no samples to stack');
  const bytes = Buffer.concat(rows.map((row) => row?.bytes ?? new Uint8Array()));
  return new Tensor(first.dtype, [rows.length, ...first.shape.slice(1)], new Uint8Array(bytes));
}

function firstLine(error: unknown): string {
  return messageOf(error).split('\n')[0]?.slice(0, 400) ?? '';
}
