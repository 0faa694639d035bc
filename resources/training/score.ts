// Scores a policy on a split with the environment's own metrics.
//   node --import ./resources/training/register-agentcanvas.mjs resources/training/score.ts \
//     --model resources/models/minivln_cma.onnx --split val_unseen
import { parseArgs } from 'node:util';
import { stepBudget } from '../nodesets/minivln/episode.ts';
import { requireSplit, splits } from '../nodesets/minivln/splits.ts';
import { playInLockstep } from './lockstep.ts';
import { loadStudent } from './student.ts';
import { wilsonInterval } from './wilson-interval.ts';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    split: { type: 'string', default: 'val_unseen' },
    first: { type: 'string', default: '0' },
    count: { type: 'string' },
    'no-instruction': { type: 'boolean', default: false },
  },
});
if (!values.model) throw new Error('give the policy: --model FILE');
const split = requireSplit(values.split);
const first = Number(values.first);
const count = Math.min(Number(values.count ?? Infinity), splits[split].episodes - first);

const totals = new Map<string, number>();
const byDoors = new Map<number, { episodes: number; successes: number }>();
await playInLockstep({
  student: await loadStudent(values.model),
  episodes: Array.from({ length: count }, (_unused, i) => ({ split, index: first + i })),
  stepBudget,
  hidesInstruction: values['no-instruction'],
  playerOf: () => ({
    choose: ({ proposal }) => proposal,
    finish(running) {
      const metrics = running.metrics();
      for (const [name, value] of Object.entries(metrics)) totals.set(name, (totals.get(name) ?? 0) + value);
      const doors = running.episode.doors.length;
      const group = byDoors.get(doors) ?? { episodes: 0, successes: 0 };
      group.episodes += 1;
      group.successes += metrics['success'] ?? 0;
      byDoors.set(doors, group);
    },
  }),
});

const rounded = (value: number): number => Number(value.toFixed(4));
const [low, high] = wilsonInterval(totals.get('success') ?? 0, count);
console.log(
  JSON.stringify({
    split,
    episodes: count,
    instruction: !values['no-instruction'],
    ...Object.fromEntries([...totals].map(([name, total]) => [name, rounded(total / count)])),
    successInterval: [rounded(low), rounded(high)],
    successByDoors: Object.fromEntries(
      [...byDoors]
        .sort(([a], [b]) => a - b)
        .map(([doors, { episodes, successes }]) => [doors, rounded(successes / episodes)]),
    ),
  }),
);
