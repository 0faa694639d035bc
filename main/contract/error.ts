// Errors as they travel to a host or the renderer. The codes are those of main/base/error-codes.ts.
import { z } from 'zod';
import { errorCodeNames } from '../base/error-codes.ts';

export const errorScope = z.object({
  runId: z.string().optional(),
  episodeId: z.string().optional(),
  nodePath: z.string().optional(),
  step: z.number().int().optional(),
  phase: z.string().optional(),
});

export const errorInfo = z.object({
  code: z.enum(errorCodeNames),
  message: z.string(),
  scope: errorScope.default({}),
  details: z.record(z.string(), z.unknown()).default({}),
});
export type ErrorInfo = z.infer<typeof errorInfo>;
