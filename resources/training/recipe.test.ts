// The recipe of README.md in miniature: from views to an agent that can be scored, with a few episodes and steps.
// AGENTCANVAS_TRAINING_PYTHON names an interpreter that has torch, onnx and onnxruntime; skipped without it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const python = process.env['AGENTCANVAS_TRAINING_PYTHON'];
const here = import.meta.dirname;
const work = mkdtempSync(path.join(os.tmpdir(), 'minivln recipe '));
const encoder = path.join(work, 'encoder.pt');
const out = path.join(work, 'cma');

const environment = {
  ...process.env,
  NODE: process.execPath,
  PYTHON: python,
  PYTHONPATH: here,
  ENCODER: encoder,
  OUT: out,
  CLONED: '4',
  PER_ROUND: '4',
  ROUNDS: '1',
  CLONING_EPOCHS: '1',
  EPOCHS: '1',
};

function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, {
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function simulate(program: string, ...args: readonly string[]): string {
  const hooks = path.join(here, 'register-agentcanvas.mjs');
  return run(process.execPath, '--import', hooks, path.join(here, program), ...args);
}

const savedAt = (file: string): number => statSync(path.join(out, file)).mtimeMs;

afterAll(() => rmSync(work, { recursive: true, force: true }));

describe.skipIf(python === undefined)('the training recipe', () => {
  it('goes from views to an agent that can be scored, and keeps what is done when it is run again', () => {
    const views = path.join(work, 'views');
    simulate('collect-views.ts', '--out', views, '--apartments', '28', '--views', '80');
    run(
      python ?? '',
      '-m',
      'minivln_policy.train_encoder',
      '--views',
      views,
      '--out',
      encoder,
      '--steps',
      '2',
    );
    run('sh', path.join(here, 'dagger.sh'));
    const trained = ['round0.pt', 'round1.pt'].map(savedAt);

    run('sh', path.join(here, 'dagger.sh'));
    expect(['round0.pt', 'round1.pt'].map(savedAt)).toEqual(trained);

    const report = simulate('score.ts', '--model', path.join(out, 'agent.onnx'), '--count', '2');
    expect(z.looseObject({}).parse(JSON.parse(report))).toMatchObject({
      split: 'val_unseen',
      episodes: 2,
      instruction: true,
      successByDoors: expect.anything(),
    });
  }, 600_000);
});
