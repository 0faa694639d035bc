// One replica's world: the chosen episode, the agent in it, and what is measured. A new execution that finds the
// episode already walked starts it again, so an episode never continues another one's steps.
import { action, actionNames, forward, turned, type AgentPose } from './motion.ts';
import { createEpisode, successRadius, type Episode } from './episode.ts';
import { expertAction } from './expert.ts';
import { distanceBetween, type Point } from './geometry.ts';
import { createLayout, type Layout } from './layout.ts';
import {
  normalisedDynamicTimeWarping,
  pathLength,
  successWeightedByPathLength,
  withoutConsecutiveDuplicates,
} from './metrics.ts';
import type { DistanceField } from './navigation.ts';
import { createScene, type Scene } from './render.ts';
import type { EpisodeAddress } from './splits.ts';

export interface StepOutcome {
  readonly collided: boolean;
  readonly done: boolean;
}

export type Metrics = Readonly<Record<string, number>>;

export interface Session {
  readonly address: EpisodeAddress;
  /** Chooses an episode; it is made on first use. */
  select(address: EpisodeAddress): void;
  reset(): void;
  /** Called by every node with its execution: restarts an episode another execution has begun. */
  enter(executionId: string): Running;
  /** The chosen episode, untouched. */
  peek(): Running;
}

/** The episode in progress. */
export interface Running {
  readonly episode: Episode;
  readonly scene: Scene;
  readonly pose: AgentPose;
  readonly trail: readonly Point[];
  readonly steps: number;
  readonly done: boolean;
  step(chosen: number): StepOutcome;
  expert(): number;
  metrics(): Metrics;
}

const cachedLayouts = 24;

export function createSession(first: EpisodeAddress): Session {
  const scenes = createSceneCache();
  let address = first;
  let running: Running | undefined;
  let owner: string | undefined;
  const peek = (): Running => {
    running ??= begin(
      createEpisode(address, (seed) => scenes(seed).layout),
      scenes,
    );
    return running;
  };
  const reset = (): void => {
    running = running && begin(running.episode, scenes);
    owner = undefined;
  };
  return {
    get address() {
      return address;
    },
    select(next) {
      if (next.split === address.split && next.index === address.index) return;
      address = next;
      running = undefined;
      owner = undefined;
    },
    reset,
    peek,
    enter(executionId) {
      if (owner !== undefined && owner !== executionId) reset();
      owner = executionId;
      return peek();
    },
  };
}

/** Least recently used apartments are dropped; all can be made again from their seed. */
function createSceneCache(): (seed: number) => Scene {
  const scenes = new Map<number, Scene>();
  return (seed) => {
    const scene = scenes.get(seed) ?? createScene(createLayout(seed));
    scenes.delete(seed);
    scenes.set(seed, scene);
    const oldest = scenes.keys().next();
    if (scenes.size > cachedLayouts && !oldest.done) scenes.delete(oldest.value);
    return scene;
  };
}

function begin(episode: Episode, scenes: (seed: number) => Scene): Running {
  const scene = scenes(episode.layout.seed);
  const { layout } = episode;
  const toGoal = layout.navigation.fieldTo(episode.goal);
  let expertField: DistanceField | undefined;
  const trail: Point[] = [{ x: episode.start.x, y: episode.start.y }];
  let pose = episode.start;
  let steps = 0;
  let collisions = 0;
  let stopped = false;
  let nearest = toGoal.distance(pose.x, pose.y);
  return {
    episode,
    scene,
    trail,
    get pose() {
      return pose;
    },
    get steps() {
      return steps;
    },
    get done() {
      return stopped;
    },
    step(chosen) {
      if (stopped) return { collided: false, done: true };
      steps += 1;
      stopped = chosen === action.stop;
      const { next, collided } = act(layout, pose, chosen);
      pose = next;
      if (collided) collisions += 1;
      if (chosen === action.forward) {
        trail.push({ x: pose.x, y: pose.y });
        nearest = Math.min(nearest, toGoal.distance(pose.x, pose.y));
      }
      return { collided, done: stopped };
    },
    expert() {
      expertField ??= layout.comfortable.fieldTo(episode.goal);
      return expertAction(layout, expertField, pose);
    },
    metrics: () =>
      measure(episode, {
        trail,
        steps,
        collisions,
        stopped,
        nearest,
        remaining: toGoal.distance(pose.x, pose.y),
      }),
  };
}

function act(layout: Layout, pose: AgentPose, chosen: number): { next: AgentPose; collided: boolean } {
  switch (chosen) {
    case action.forward: {
      const { x, y, collided } = forward(layout.obstacles, pose);
      return { next: { x, y, heading: pose.heading }, collided };
    }
    case action.left:
      return { next: { ...pose, heading: turned(pose.heading, 1) }, collided: false };
    case action.right:
      return { next: { ...pose, heading: turned(pose.heading, -1) }, collided: false };
    default:
      return { next: pose, collided: false };
  }
}

interface Walk {
  readonly trail: readonly Point[];
  readonly steps: number;
  readonly collisions: number;
  readonly stopped: boolean;
  /** Smallest and last geodesic distance to the goal. */
  readonly nearest: number;
  readonly remaining: number;
}

function measure(episode: Episode, { trail, steps, collisions, stopped, nearest, remaining }: Walk): Metrics {
  const success = stopped && remaining < successRadius;
  const takenLength = pathLength(trail, distanceBetween);
  const ndtw = normalisedDynamicTimeWarping({
    reference: episode.referencePath,
    predicted: withoutConsecutiveDuplicates(trail, (a, b) => a.x === b.x && a.y === b.y),
    distance: distanceBetween,
    radius: successRadius,
  });
  return {
    distance_to_goal: remaining,
    success: success ? 1 : 0,
    oracle_success: nearest < successRadius ? 1 : 0,
    spl: successWeightedByPathLength({ success, rulerLength: episode.shortestLength, takenLength }),
    ndtw,
    sdtw: success ? ndtw : 0,
    path_length: takenLength,
    steps_taken: steps,
    collisions,
  };
}

/** Accepts the action's number or name; anything else is an error that lists them. */
export function parseAction(value: unknown): number {
  const index =
    typeof value === 'string' ? actionNames.findIndex((name) => name === value.toUpperCase()) : Number(value);
  if (Number.isInteger(index) && index >= 0 && index < actionNames.length && value !== null && value !== '')
    return index;
  const known = actionNames.map((name, number) => `${number} ${name}`).join(', ');
  throw new Error(`minivln has no action "${String(value)}"; use one of ${known}`);
}
