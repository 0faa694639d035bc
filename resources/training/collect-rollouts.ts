// Rollouts in training episodes with the expert's action at every step: data of behaviour cloning (--expert-share 1)
// and of DAgger (the student drives, the expert says what it would have done).
//   node --import ./resources/training/register-agentcanvas.mjs resources/training/collect-rollouts.ts \
//     --model agent.onnx --first 0 --count 4000 --expert-share 0.3 --out DIR
import { parseArgs } from 'node:util';
import { createRandom, deriveSeed, type Random } from 'agentcanvas';
import { tokenCount, tokenise } from '../nodesets/minivln/instruction.ts';
import { action } from '../nodesets/minivln/motion.ts';
import type { Running } from '../nodesets/minivln/session.ts';
import { createArrayFolder, type ArrayFolder, type ArrayLayout } from './array-folder.ts';
import { playInLockstep, type Player } from './lockstep.ts';
import { createRouteLabeller, offRoute } from './route-labels.ts';
import { loadStudent } from './student.ts';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    out: { type: 'string' },
    first: { type: 'string', default: '0' },
    count: { type: 'string', default: '10000' },
    'expert-share': { type: 'string', default: '1' },
    'no-instruction': { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
if (!values.model || !values.out)
  throw new Error('give --model FILE (exported with --features) and --out DIR');
const expertShare = Number(values['expert-share']);

const stepNames = ['taken', 'expert', 'clause', 'turned', 'bearing', 'distance'] as const;
/** Rollouts are cut here; the longest expert episode takes 96 steps. */
const stepBudget = 120;
const { stop, forward } = action;
/** An agent that left the route this long ago teaches little: its episode ends. */
const patience = 16;
/** A student that has not moved for a full turn is stuck: the expert drives the rest. */
const stuckAfter = 24;

const number: ArrayLayout = { dtype: 'uint8', shape: [] };
const layouts = {
  features: { dtype: 'uint8', shape: [16, 64] },
  taken: number,
  expert: number,
  clause: number,
  turned: number,
  bearing: { dtype: 'int16', shape: [] },
  distance: number,
  tokens: { dtype: 'uint8', shape: [tokenCount] },
  length: { dtype: 'uint32', shape: [] },
} as const satisfies Record<string, ArrayLayout>;

type Folder = ArrayFolder<keyof typeof layouts>;

/** Records one rollout; it is written when it ends, so that its steps lie together. */
function recorder(running: Running, folder: Folder, random: Random): Player {
  const labelAt = createRouteLabeller(running.episode);
  const views: Uint8Array[] = [];
  const steps = Object.fromEntries(stepNames.map((name) => [name, [] as number[]]));
  let lost = 0;
  let unmoved = 0;
  return {
    choose({ proposal, features }) {
      if (!features) throw new Error('the model gives no features: export it with --features');
      const label = labelAt(running.pose);
      const expert = running.expert();
      lost = label.clause === offRoute ? lost + 1 : 0;
      // A student that stops where the expert would not has more to learn further on.
      const isStuck = unmoved > stuckAfter;
      const trusts = !isStuck && random.next() >= expertShare && (proposal !== stop || expert === stop);
      const taken = lost > patience ? stop : trusts ? proposal : expert;
      if (!isStuck) unmoved = taken === forward ? 0 : unmoved + 1;
      views.push(features.slice());
      const row = { ...label, expert, taken };
      for (const name of stepNames) steps[name]!.push(row[name]);
      return taken;
    },
    finish() {
      for (const view of views) folder.append('features', view);
      for (const name of stepNames) {
        const column = steps[name]!;
        folder.append(name, name === 'bearing' ? Int16Array.from(column) : Uint8Array.from(column));
      }
      const tokens = new Uint8Array(tokenCount);
      tokens.set(tokenise(running.episode.instruction));
      folder.append('tokens', tokens);
      folder.append('length', Uint32Array.of(views.length));
    },
  };
}

const folder = createArrayFolder(values.out, layouts);
const first = Number(values.first);
const random = createRandom(deriveSeed('minivln rollouts', values.seed, first));
let finished = 0;
let succeeded = 0;
await playInLockstep({
  student: await loadStudent(values.model),
  episodes: Array.from({ length: Number(values.count) }, (_unused, i) => ({
    split: 'train' as const,
    index: (first + i) % 10_000,
  })),
  stepBudget,
  hidesInstruction: values['no-instruction'],
  playerOf(running) {
    const player = recorder(running, folder, random);
    return {
      choose: (moment) => player.choose(moment),
      finish(ended) {
        player.finish(ended);
        finished += 1;
        succeeded += ended.metrics()['success'] ?? 0;
        if (finished % 500 === 0) console.log(`${finished} episodes, success ${succeeded / finished}`);
      },
    };
  },
});
folder.close({ model: values.model, expertShare, episodes: finished });
