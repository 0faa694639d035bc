// What a policy should know at a place of its episode: which clause of the instruction is due, how far it has turned
// since that clause began, and where the clause leads. Targets of auxiliary losses; never seen at evaluation.
import { centreOf, type Point } from '../nodesets/minivln/geometry.ts';
import { bearingDegrees, otherRoom, viewpointAfter } from '../nodesets/minivln/instruction.ts';
import { roomAt } from '../nodesets/minivln/layout.ts';
import { headingCount, headingRadians, type AgentPose } from '../nodesets/minivln/motion.ts';
import type { Episode } from '../nodesets/minivln/episode.ts';

/** Clause of a place that is in none of the route's rooms. */
export const offRoute = 255;

export interface RouteLabel {
  /** Sentence of the instruction that is due, or `offRoute`. */
  readonly clause: number;
  /** Steps of 15 degrees, counter-clockwise since the clause began, 0 to 23. */
  readonly turned: number;
  /** Degrees counter-clockwise from the heading to the door or piece of the clause, in (-180, 180]. */
  readonly bearing: number;
  /** To that door or piece in a straight line, 0.1 m, at most 255. */
  readonly distance: number;
}

interface Clause {
  readonly room: number;
  /** Heading the clause is read in. */
  readonly heading: number;
  readonly target: Point;
}

/** Follows one episode; call it once per step, in order. */
export function createRouteLabeller(episode: Episode): (pose: AgentPose) => RouteLabel {
  const clauses = clausesOf(episode);
  let current = 0;
  return (pose) => {
    const room = roomAt(episode.layout, pose.x, pose.y);
    // In a doorway the clause stays what it was.
    if (room) current = clauses.findIndex((clause) => clause.room === room.index);
    const clause = clauses[current];
    if (!clause) return { clause: offRoute, turned: 0, bearing: 0, distance: 0 };
    const { heading, target } = clause;
    return {
      clause: current,
      turned: (pose.heading - heading + headingCount) % headingCount,
      bearing: Math.round(bearingDegrees(pose, headingRadians(pose.heading), target)),
      distance: Math.min(255, Math.round(Math.hypot(target.x - pose.x, target.y - pose.y) * 10)),
    };
  };
}

function clausesOf({ layout, start, doors, landmark }: Episode): Clause[] {
  const clauses: Clause[] = [];
  let room = roomAt(layout, start.x, start.y)?.index ?? 0;
  let heading = start.heading;
  for (const index of doors) {
    const door = layout.doors[index]!;
    clauses.push({ room, heading, target: centreOf(door.opening) });
    heading = Math.round((viewpointAfter(door, room).headingRad / (2 * Math.PI)) * headingCount);
    room = otherRoom(door, room);
  }
  return [...clauses, { room, heading, target: centreOf(layout.landmarks[landmark]!.footprint) }];
}
