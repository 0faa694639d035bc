// Replies kept by the address of what was asked: SHA-256 of the canonical request. A file per reply, whole or not at
// all; it also holds the question without its images, so that a person can see what a missing one was about.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import { stableHash } from '../base/stable-hash.ts';
import { fromFileCase, toFileCase } from '../contract/casing.ts';
import { canonicalPrompt, type PromptMessage } from './prompt.ts';
import type { Sampling } from './one-try.ts';

/** All that decides about a reply, and which of several equal questions of one step it is. */
export interface AskedQuestion {
  readonly model: string;
  readonly prompt: readonly PromptMessage[];
  readonly sampling: Omit<Sampling, 'seed'>;
  readonly nodeId: string;
  readonly step: number;
  /** Policy seed of the execution. */
  readonly seed: number;
  readonly sample: number;
  readonly occurrence: number;
}

const recordedReply = z.object({
  text: z.string(),
  model: z.string(),
  finish: z.string(),
  inputTokens: z.number().nullable(),
  outputTokens: z.number().nullable(),
});
export type RecordedReply = z.infer<typeof recordedReply>;

const replyFile = z.object({ formatVersion: z.literal(1), request: z.unknown(), reply: recordedReply });

export function canonicalQuestion({ prompt, sampling, ...rest }: AskedQuestion): unknown {
  const { temperature = null, maxTokens = null, stop } = sampling;
  return { ...rest, prompt: canonicalPrompt(prompt), temperature, maxTokens, stop };
}

export class RecordedReplies {
  readonly folder: string;
  readonly #redact: (text: string) => string;

  constructor(folder: string, redact: (text: string) => string) {
    this.folder = folder;
    this.#redact = redact;
  }

  /** Null when there is none. Throws `corrupt` for a file that cannot be read as one. */
  async read(question: AskedQuestion): Promise<RecordedReply | null> {
    const file = this.#fileOf(stableHash(canonicalQuestion(question)));
    let content: string;
    try {
      content = await readFile(file, 'utf8');
    } catch (cause) {
      if (isMissing(cause)) return null;
      throw new StudioError('io_failed', `the recorded reply ${file} cannot be read`, { cause });
    }
    try {
      return replyFile.parse(fromFileCase(replyFile, JSON.parse(content))).reply;
    } catch (cause) {
      throw new StudioError('corrupt', `${file} is no recorded reply; remove it or record again`, { cause });
    }
  }

  async write(question: AskedQuestion, reply: RecordedReply): Promise<void> {
    const request = canonicalQuestion(question);
    const file = this.#fileOf(stableHash(request));
    const kept = toFileCase(replyFile, { formatVersion: 1, request, reply });
    const temporary = `${file}.${randomUUID()}.tmp`;
    try {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(temporary, `${this.#redact(JSON.stringify(kept, null, 1))}\n`);
      await rename(temporary, file);
    } catch (cause) {
      throw new StudioError('io_failed', `a reply could not be recorded in ${this.folder}`, { cause });
    }
  }

  #fileOf(address: string): string {
    return path.join(this.folder, address.slice(0, 2), `${address}.json`);
  }
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}
