// minivln: a small vision-and-language navigation benchmark in procedural apartments, generated from seeds. The
// benchmark card is docs/minivln.md.
import { defineNodeset, type MetricSpec } from 'agentcanvas';
import { stepBudget, successRadius } from './episode.ts';
import { actionNames } from './motion.ts';
import { createNodes } from './nodes.ts';
import { createPanel } from './panel.ts';
import { createSession } from './session.ts';
import { splitNames, splits } from './splits.ts';

const metrics: readonly MetricSpec[] = [
  { name: 'success', kind: 'rate', higherIsBetter: true, worst: 0 },
  { name: 'oracle_success', kind: 'rate', higherIsBetter: true, worst: 0 },
  { name: 'spl', kind: 'mean', higherIsBetter: true, worst: 0 },
  { name: 'ndtw', kind: 'mean', higherIsBetter: true, worst: 0 },
  { name: 'sdtw', kind: 'mean', higherIsBetter: true, worst: 0 },
  { name: 'distance_to_goal', unit: 'm', kind: 'mean', higherIsBetter: false },
  { name: 'path_length', unit: 'm', kind: 'mean', higherIsBetter: false },
  { name: 'steps_taken', unit: 'steps', kind: 'count', higherIsBetter: false },
  { name: 'collisions', unit: 'contacts', kind: 'count', higherIsBetter: false },
];

export default defineNodeset({
  name: 'minivln',
  description: `Vision-and-language navigation in procedural apartments. Success: STOP within ${successRadius} m (walking distance) of the goal, at most ${stepBudget} steps.`,
  parallelism: 'replicated',
  expectedRamMb: 120,
  create() {
    const session = createSession({ split: 'val_unseen', index: 0 });
    return {
      nodes: createNodes(session),
      envPanel: createPanel(session),
      evalMetadata: () => ({
        envName: 'minivln',
        splits: splitNames,
        episodeCounts: Object.fromEntries(splitNames.map((name) => [name, splits[name].episodes])),
        metrics,
        supportsSetEpisode: true,
        stepBudget,
        actionSpace: {
          type: 'discrete',
          n: actionNames.length,
          names: actionNames,
          forward_m: 0.25,
          turn_degrees: 15,
        },
      }),
    };
  },
});
