// The expert: knows the map, follows the comfortable shortest path with the agent's own actions, and stops at the
// goal. Every choice is checked by simulating the step, so walls and sliding cannot trap it.
import { action, forward, headingCount, stepLength, turned, type AgentPose } from './motion.ts';
import type { Layout } from './layout.ts';
import type { DistanceField } from './navigation.ts';

/** Close enough to stop, metres. */
const arrival = 0.2;
/** What one turn of 15 degrees is worth in metres of detour: few turns, smooth paths. */
const turnPrice = 0.01;
const collisionPrice = 0.05;
/** A step must bring at least this much, else the expert is as near as it gets. */
const leastProgress = 0.01;

/** 0, 1, -1, 2, -2 … */
const turnsByPrice = Array.from({ length: headingCount }, (_unused, i) =>
  i % 2 === 1 ? (i + 1) / 2 : -i / 2,
);

export function expertAction(layout: Layout, field: DistanceField, pose: AgentPose): number {
  const here = field.distance(pose.x, pose.y);
  if (here <= arrival) return action.stop;
  let bestTurns = 0;
  let bestScore = Infinity;
  let bestDistance = Infinity;
  for (const turns of turnsByPrice) {
    const price = Math.abs(turns) * turnPrice;
    // A step gains at most its length, so dearer turns need not be tried. (Cutting a corner inside the clearance can
    // seem to gain more: passing that over keeps the expert on the comfortable path.)
    if (here - stepLength + price >= bestScore) break;
    const after = forward(layout.obstacles, pose, turned(pose.heading, turns));
    const distance = field.distance(after.x, after.y);
    const score = distance + price + (after.collided ? collisionPrice : 0);
    if (score >= bestScore) continue;
    bestScore = score;
    bestTurns = turns;
    bestDistance = distance;
  }
  if (bestDistance > here - leastProgress) return action.stop;
  if (bestTurns === 0) return action.forward;
  return bestTurns > 0 ? action.left : action.right;
}
