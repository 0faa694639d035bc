// The shipped policy: its file, its card, its ports, and that it follows instructions.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { InferenceSession } from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import { stepBudget } from '../nodesets/minivln/episode.ts';
import { playInLockstep } from './lockstep.ts';
import { loadStudent, startAction, type Student } from './student.ts';

const modelFile = fileURLToPath(new URL('../models/minivln_cma.onnx', import.meta.url));
const tokenCount = 48;

async function successesOf(student: Student, hidesInstruction: boolean): Promise<number> {
  let successes = 0;
  await playInLockstep({
    student,
    episodes: Array.from({ length: 24 }, (_unused, index) => ({ split: 'val_unseen' as const, index })),
    stepBudget,
    hidesInstruction,
    playerOf: () => ({
      choose: ({ proposal }) => proposal,
      finish: (running) => void (successes += running.metrics()['success'] ?? 0),
    }),
  });
  return successes;
}

/** One row of input with grey views; `seed` makes rows differ. */
function inputOf(rows: readonly number[], hiddenSize: number) {
  return {
    rgb: Uint8Array.from({ length: rows.length * 48 * 64 * 3 }, (_unused, i) => {
      const row = Math.floor(i / (48 * 64 * 3));
      return (i * 7 + (rows[row] ?? 0) * 31) % 256;
    }),
    tokens: BigInt64Array.from({ length: rows.length * tokenCount }, (_unused, i) =>
      BigInt((i + (rows[Math.floor(i / tokenCount)] ?? 0)) % 43),
    ),
    previous: BigInt64Array.from(rows, (row) => BigInt(row % (startAction + 1))),
    hidden: Float32Array.from({ length: rows.length * hiddenSize }, (_unused, i) => Math.sin(i)),
  };
}

describe('the shipped policy', () => {
  it('is smaller than 5 MB', () => {
    expect(statSync(modelFile).size).toBeLessThan(5_000_000);
  });

  it('is the file its model card describes', () => {
    const card = readFileSync(modelFile.replace(/onnx$/, 'md'), 'utf8');
    expect(card).toContain(createHash('sha256').update(readFileSync(modelFile)).digest('hex'));
    expect(card).toContain(`${statSync(modelFile).size.toLocaleString('en-US')} bytes`);
  });

  it('takes views, words, the previous action and its state for any number of episodes', async () => {
    const session = await InferenceSession.create(modelFile);
    const shapes = [...session.inputMetadata, ...session.outputMetadata].map((port) =>
      port.isTensor ? [port.name, port.type, port.shape] : [port.name],
    );
    expect(shapes).toEqual([
      ['rgb', 'uint8', ['batch', 48, 64, 3]],
      ['tokens', 'int64', ['batch', tokenCount]],
      ['prev_action', 'int64', ['batch']],
      ['hidden_in', 'float32', ['batch', 256]],
      ['logits', 'float32', ['batch', 4]],
      ['hidden_out', 'float32', ['batch', 256]],
    ]);
    await session.release();
  });

  it('gives a row the same answer alone and among others', async () => {
    const student = await loadStudent(modelFile);
    const together = inputOf([3, 5], student.hiddenSize);
    const both = await student.act(together);
    const alone = await student.act({
      rgb: together.rgb.slice(48 * 64 * 3),
      tokens: together.tokens.slice(tokenCount),
      previous: together.previous.slice(1),
      hidden: together.hidden.slice(student.hiddenSize),
    });
    const second = both.hidden.slice(student.hiddenSize);
    expect(alone.hidden.every((value, i) => Math.abs(value - (second[i] ?? NaN)) < 1e-4)).toBe(true);
  });

  it('succeeds far more often with the instruction than without', async () => {
    const student = await loadStudent(modelFile);
    const followed = await successesOf(student, false);
    const blind = await successesOf(student, true);
    expect(followed).toBeGreaterThanOrEqual(18);
    expect(blind).toBeLessThanOrEqual(6);
  });
});
