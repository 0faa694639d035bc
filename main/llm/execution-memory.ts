// What executions asked so far: their usage, and how often each question was asked in a step. Bounded: an execution
// nobody takes leave of is forgotten when there are too many.
import { stableHash } from '../base/stable-hash.ts';
import type { ChatUsage } from '../contract/chat.ts';
import { addedUsage, noUsage } from '../contract/chat-usage.ts';
import { canonicalQuestion, type AskedQuestion } from './recorded-replies.ts';

interface Memory {
  usage: ChatUsage | null;
  readonly asked: Map<string, number>;
}

const mostExecutions = 10_000;

export class ExecutionMemory {
  readonly #executions = new Map<string, Memory>();

  add(executionId: string, usage: ChatUsage): void {
    const memory = this.#of(executionId);
    memory.usage = addedUsage(memory.usage ?? noUsage, usage);
  }

  usage(executionId: string): ChatUsage | null {
    return this.#executions.get(executionId)?.usage ?? null;
  }

  /** How many equal questions came before this one. */
  occurrence(executionId: string, question: Omit<AskedQuestion, 'occurrence'>): number {
    const { asked } = this.#of(executionId);
    const key = stableHash(canonicalQuestion({ ...question, occurrence: 0 }));
    const before = asked.get(key) ?? 0;
    asked.set(key, before + 1);
    return before;
  }

  forget(executionId: string): void {
    this.#executions.delete(executionId);
  }

  forgetRun(runId: string): void {
    for (const executionId of this.#executions.keys())
      if (executionId.startsWith(`${runId}/`)) this.#executions.delete(executionId);
  }

  #of(executionId: string): Memory {
    const known = this.#executions.get(executionId);
    if (known) return known;
    const memory: Memory = { usage: null, asked: new Map() };
    this.#executions.set(executionId, memory);
    const [oldest] = this.#executions.keys();
    if (this.#executions.size > mostExecutions && oldest !== undefined) this.#executions.delete(oldest);
    return memory;
  }
}
