// Files and Python speak snake_case, TypeScript camelCase; data keys are nobody's to rename.
import { expect, it } from 'vitest';
import { fromFileCase, toFileCase } from './casing.ts';
import { episodeAttempt, runRecord } from './run.ts';
import { nodesetManifest } from './nodeset.ts';

const attempt = {
  ordinal: 1,
  key: '000001-0a1b2c3d',
  episodeIndex: 7,
  metrics: { distanceToGoal: 1.5, ndtw: 'nan', steps_taken: 3 },
  error: {
    code: 'timeout',
    message: 'm',
    scope: { nodePath: 'a > b' },
    details: { exitCode: 1 },
    stderrTail: ['x'],
  },
  nodeErrors: [{ nodePath: 'n', message: 'm', step: 0 }],
};

it('renames the keys of objects and leaves the keys of records alone', () => {
  const file = toFileCase(episodeAttempt, attempt);
  expect(file).toMatchObject({
    episode_index: 7,
    metrics: { distanceToGoal: 1.5, steps_taken: 3 },
    error: { scope: { node_path: 'a > b' }, details: { exitCode: 1 }, stderr_tail: ['x'] },
    node_errors: [{ node_path: 'n' }],
  });
  expect(fromFileCase(episodeAttempt, file)).toEqual(attempt);
});

it('follows unions and defaults', () => {
  const config = {
    graph: 'g',
    episodes: { sample: 3, seed: 1 },
    perStepBudgetSec: 2,
    selectors: { envId: 'X-v1' },
    retry: { attempts: 2, on: ['died'] },
  };
  const file = toFileCase(runRecord, { config, plan: [{ episodeIndex: 1 }] });
  expect(file).toMatchObject({
    config: { per_step_budget_sec: 2, selectors: { envId: 'X-v1' }, episodes: { sample: 3 } },
    plan: [{ episode_index: 1 }],
  });
  expect(fromFileCase(runRecord, file)).toEqual({ config, plan: [{ episodeIndex: 1 }] });
});

it('reads a manifest written by a Python host', () => {
  const python = {
    name: 'toy',
    language: 'python',
    has_env_panel: true,
    nodes: [
      {
        node_type: 'toy__step',
        display_name: 'Step',
        input_ports: [{ name: 'action', wire_type: 'ANY' }],
        default_config: { max_len: 3 },
        batch_dim: null,
      },
    ],
    deadlines_sec: { first_call: 5 },
  };
  const manifest = nodesetManifest.parse(fromFileCase(nodesetManifest, python));
  expect(manifest).toMatchObject({
    hasEnvPanel: true,
    nodes: [{ nodeType: 'toy__step', inputPorts: [{ wireType: 'ANY' }], defaultConfig: { max_len: 3 } }],
    deadlinesSec: { first_call: 5 },
  });
});
