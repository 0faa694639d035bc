// The config of a policy_onnx node, read once when it is bound. What is wrong is said with its path before anything runs.
import { z } from 'zod';
import { StudioError } from '../../base/errors.ts';
import type { PortValues } from '../../graph/ports.ts';

export const executionProviders = ['cpu', 'cuda', 'tensorrt', 'webgpu', 'dml', 'coreml'] as const;

const perChannel = z.union([z.number(), z.array(z.number()).min(1)]);

const inputMapping = z.strictObject({
  /** Default: the input's own name. */
  port: z.string().min(1).optional(),
  /** Dotted path into a record, such as an observation with several members. */
  member: z.string().min(1).optional(),
  layout: z.enum(['as_is', 'hwc_to_chw', 'chw_to_hwc']).default('as_is'),
  scale: z.number().optional(),
  mean: perChannel.optional(),
  std: perChannel.optional(),
  /** The value is a number; the input a vector of this length with a one at it. */
  oneHot: z.number().int().positive().optional(),
  /** The value is a list of word ids; cut or padded to this length. */
  tokens: z.number().int().positive().optional(),
  pad: z.number().int().default(0),
  /** Stands for a value that is missing, such as the previous action at the first step. */
  default: z.number().optional(),
});
export type InputMapping = z.infer<typeof inputMapping>;

const actionMapping = z.strictObject({
  output: z.string().min(1),
  choose: z.enum(['argmax', 'sample', 'value']).default('argmax'),
  /** Of sampling: scores are divided by it. */
  temperature: z.number().positive().default(1),
});

const policyConfig = z.object({
  model: z.string().min(1, 'name a file: an absolute path, one relative to the workspace, or library:<file>'),
  provider: z.enum(executionProviders).default('cpu'),
  /** 0: half the cores, four at most. */
  threads: z.coerce.number().int().min(0).max(256).default(0),
  inputs: fromText(z.record(z.string(), inputMapping)),
  /** Input of the state to the output that is its next value. */
  hidden: fromText(z.record(z.string(), z.string().min(1)).default({})),
  action: fromText(actionMapping),
  /** Further outputs, emitted on the port `extra`. */
  extra: fromText(z.array(z.string()).default([])),
  /** Axis of the batch of an input or output, where it is not the first. */
  batchAxis: fromText(z.record(z.string(), z.number().int().min(0)).default({})),
});
export type PolicyConfig = z.infer<typeof policyConfig>;

/** Throws `graph_invalid` with every finding. */
export function parsePolicyConfig(nodeId: string, config: PortValues): PolicyConfig {
  const parsed = policyConfig.safeParse(config);
  if (parsed.success) return parsed.data;
  const findings = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'config'}: ${message}`,
  );
  throw new StudioError('graph_invalid', `node '${nodeId}' (policy_onnx): ${findings.join('; ')}`);
}

/** A value, or its JSON in a text field; an empty text is no value. */
function fromText<Schema extends z.ZodType>(schema: Schema): z.ZodPreprocess<Schema> {
  return z.preprocess((value) => {
    if (typeof value !== 'string') return value;
    if (value.trim() === '') return undefined;
    try {
      return JSON.parse(value) as unknown;
    } catch {
      return value;
    }
  }, schema);
}
