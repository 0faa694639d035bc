import { expect, it } from 'vitest';
import { stepBudgetOf, type Environment } from './selectors.ts';

const metadata: Environment['metadata'] = {
  envName: 'walker',
  splits: [],
  episodeCounts: null,
  metrics: [],
  supportsSetEpisode: true,
  stepBudget: 50,
};

function environment(stepBudget: number | null): Environment {
  return {
    nodeset: 'walker',
    metadata,
    panel: null,
    panelState: { values: {}, available: true, stepBudget },
    perStepBudgetSec: 30,
    error: null,
  };
}

it('suggests the step budget that a run would take: of the panel, else of the metadata, else of the graph', () => {
  const graph = { stepBudget: 1000 };
  expect(stepBudgetOf(graph, environment(10))).toBe(10);
  expect(stepBudgetOf(graph, environment(null))).toBe(50);
  expect(stepBudgetOf(graph, null)).toBe(1000);
  expect(stepBudgetOf({ stepBudget: null }, null)).toBeNull();
});
