// Hot path. One node's use of one model: the file found, the mapping fitted, samples stacked into buffers that are reused, answers
// split by views. Keeps nothing about callers.
import { StudioError, toStudioError } from '../../base/errors.ts';
import { Tensor } from '../../base/tensor.ts';
import type { ModelHost } from './model-host.ts';
import type { BindingPlan, InputPlan } from './plan.ts';
import type { PolicyConfig } from './policy-config.ts';
import { fitPolicy } from './policy-fit.ts';
import type { PolicySample } from './policy-sample.ts';

export interface OnnxPolicyOptions {
  readonly nodeId: string;
  readonly config: PolicyConfig;
  readonly findHost: () => Promise<ModelHost>;
  /** One forward pass, loading apart. */
  readonly inferMs: () => number;
}

interface Bound {
  readonly host: ModelHost;
  readonly generation: number;
  readonly number: number;
  readonly plan: BindingPlan;
}

type Answer = Readonly<Record<string, Tensor>>;

const bindMs = 600_000;

export class OnnxPolicy {
  readonly config: PolicyConfig;
  readonly #options: OnnxPolicyOptions;
  #buffers = new Map<string, Uint8Array>();
  #bound: Bound | undefined;
  #binding: Promise<Bound> | undefined;
  /** The file or the mapping is at fault: another try would fail alike. */
  #unusable: StudioError | undefined;

  constructor(options: OnnxPolicyOptions) {
    this.config = options.config;
    this.#options = options;
  }

  async ready(signal?: AbortSignal): Promise<void> {
    await this.#boundNow(signal);
  }

  /** One answer per sample, in order. Rejects as a whole. */
  async infer(samples: readonly PolicySample[], signal: AbortSignal): Promise<readonly Answer[]> {
    const current = this.#bound;
    const bound =
      current && current.host.generation === current.generation ? current : await this.#boundNow(signal);
    const groups = groupsOf(samples);
    if (groups.length === 1) return await this.#inferAlike(bound, samples, signal);
    const answers: Answer[] = [];
    for (const group of groups) {
      const members = group.map((index) => samples[index] ?? {});
      const own = await this.#inferAlike(bound, members, signal);
      for (const [place, index] of group.entries()) answers[index] = own[place] ?? {};
    }
    return answers;
  }

  /** The process is ended; it is found hanging. */
  async reset(): Promise<void> {
    await this.#bound?.host.kill();
  }

  async #inferAlike(
    bound: Bound,
    samples: readonly PolicySample[],
    signal: AbortSignal,
  ): Promise<readonly Answer[]> {
    const count = samples.length;
    const columns: Record<string, Tensor> = {};
    for (const input of bound.plan.inputs) columns[input.name] = this.#column(input, samples);
    try {
      const params = { binding: bound.number, count, columns };
      const answer = await bound.host.call('infer', params, { timeoutMs: this.#options.inferMs(), signal });
      return split(answer as Answer, count);
    } catch (error) {
      // A call that was given up may still be reading them.
      this.#buffers = new Map();
      throw error;
    }
  }

  /** Samples of one input, one behind the other. A single one is sent as it is. */
  #column(input: InputPlan, samples: readonly PolicySample[]): Tensor {
    const first = samples.find((sample) => sample[input.name])?.[input.name] ?? zeros(input);
    const shape = [samples.length, ...first.shape];
    if (samples.length === 1) return new Tensor(first.dtype, shape, first.bytes);
    const size = first.bytes.byteLength;
    const bytes = this.#buffer(input.name, size * samples.length);
    for (let index = 0; index < samples.length; index++) {
      const value = samples[index]?.[input.name];
      if (value) bytes.set(value.bytes, index * size);
      else bytes.fill(0, index * size, (index + 1) * size);
    }
    return new Tensor(first.dtype, shape, bytes);
  }

  #buffer(name: string, byteLength: number): Uint8Array {
    const known = this.#buffers.get(name);
    if (known && known.byteLength >= byteLength) return known.subarray(0, byteLength);
    const made = new Uint8Array(byteLength);
    this.#buffers.set(name, made);
    return made;
  }

  async #boundNow(signal: AbortSignal | undefined): Promise<Bound> {
    if (this.#unusable) throw this.#unusable;
    const current = this.#bound;
    if (current && current.host.generation === current.generation) return current;
    signal?.throwIfAborted();
    this.#binding ??= this.#bind().finally(() => (this.#binding = undefined));
    return await this.#binding;
  }

  async #bind(): Promise<Bound> {
    const { nodeId, config, findHost } = this.#options;
    try {
      const host = await findHost();
      const facts = await host.facts();
      const { generation } = host;
      const fit = fitPolicy(config, facts);
      if (!fit.fits)
        throw new StudioError(
          'model_failed',
          `node '${nodeId}' does not fit ${config.model}:\n${fit.findings.map((finding) => `- ${finding}`).join('\n')}`,
          { details: { findings: [...fit.findings] } },
        );
      const number = Number(await host.call('bind', { plan: fit.plan }, { timeoutMs: bindMs }));
      const bound = { host, generation, number, plan: fit.plan };
      this.#bound = bound;
      return bound;
    } catch (thrown) {
      const error = toStudioError(thrown, 'model_failed');
      if (error.code === 'model_failed' || error.code === 'unsupported') this.#unusable = error;
      throw error;
    }
  }
}

/** A state's first value, in the model's own form. */
function zeros({ dtype, shape }: InputPlan): Tensor {
  const extents = shape.map((extent) => extent ?? 1);
  const item = new Tensor(dtype, [0], new Uint8Array(0)).data.BYTES_PER_ELEMENT;
  return new Tensor(
    dtype,
    extents,
    new Uint8Array(item * extents.reduce((product, extent) => product * extent, 1)),
  );
}

function split(answer: Answer, count: number): readonly Answer[] {
  const answers: Record<string, Tensor>[] = Array.from({ length: count }, () => ({}));
  for (const name in answer) {
    const column = answer[name];
    if (!column) continue;
    const shape = column.shape.slice(1);
    const size = column.bytes.byteLength / count;
    for (let index = 0; index < count; index++) {
      const own = answers[index];
      if (own)
        own[name] = new Tensor(column.dtype, shape, column.bytes.subarray(index * size, (index + 1) * size));
    }
  }
  return answers;
}

/** Indexes of samples that can be stacked: nearly always all of them. A missing state goes with any. */
function groupsOf(samples: readonly PolicySample[]): readonly (readonly number[])[] {
  const [first] = samples;
  if (first && samples.every((sample) => isAlike(first, sample))) return [samples.map((_, index) => index)];
  const groups = new Map<string, number[]>();
  for (const [index, sample] of samples.entries()) {
    const form = formOf(sample);
    const group = groups.get(form);
    if (group) group.push(index);
    else groups.set(form, [index]);
  }
  return [...groups.values()];
}

function isAlike(first: PolicySample, other: PolicySample): boolean {
  for (const name in first) {
    const [mine, its] = [first[name], other[name]];
    if (!mine || !its) return false;
    if (mine.dtype !== its.dtype || mine.shape.length !== its.shape.length) return false;
    for (let axis = 0; axis < mine.shape.length; axis++)
      if (mine.shape[axis] !== its.shape[axis]) return false;
  }
  return Object.keys(first).length === Object.keys(other).length;
}

function formOf(sample: PolicySample): string {
  return Object.entries(sample)
    .map(([name, { dtype, shape }]) => `${name} ${dtype} ${shape.join('x')}`)
    .sort()
    .join('; ');
}
