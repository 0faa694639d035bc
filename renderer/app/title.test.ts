// The window title.
import { describe, expect, it } from 'vitest';
import { titleOf } from './title.ts';

const counts = {
  planned: 200,
  completed: 50,
  error: 0,
  timeout: 0,
  died: 0,
  noVerdict: 0,
  notRun: 150,
  running: 4,
  retried: 0,
};
const guard = { holder: { kind: 'eval', id: 'r', label: 'wide', sinceMs: 0 } } as const;

describe('title', () => {
  it('carries the progress of the run that holds the guard', () => {
    expect(titleOf({ guard, items: {}, progress: { runId: 'r', counts } }).replaceAll('\u202f', ' ')).toBe(
      '25 % · 50/200 · wide – AgentCanvas',
    );
  });

  it('is only the name when nothing runs or nothing is known yet', () => {
    expect(titleOf({ guard: { holder: null }, items: {}, progress: null })).toBe('AgentCanvas');
    expect(titleOf({ guard, items: {}, progress: { runId: 'other', counts } })).toBe('wide – AgentCanvas');
  });
});
