// Route labels along the expert's walk: they are training targets, so a wrong sign would go unnoticed elsewhere.
import { describe, expect, it } from 'vitest';
import { action } from '../nodesets/minivln/motion.ts';
import { createSession, type Running } from '../nodesets/minivln/session.ts';
import { createRouteLabeller, offRoute, type RouteLabel } from './route-labels.ts';

interface Moment {
  readonly label: RouteLabel;
  readonly taken: number;
}

function expertWalk(running: Running): readonly Moment[] {
  const labelAt = createRouteLabeller(running.episode);
  const moments: Moment[] = [];
  while (!running.done) {
    const taken = running.expert();
    moments.push({ label: labelAt(running.pose), taken });
    running.step(taken);
  }
  return moments;
}

const walks = Array.from({ length: 12 }, (_unused, index) => {
  const running = createSession({ split: 'train', index }).peek();
  return { doors: running.episode.doors.length, moments: expertWalk(running) };
});

const wrapped = (degrees: number): number => ((((degrees + 180) % 360) + 360) % 360) - 180;

describe('route labels', () => {
  it('lead the expert through every clause in order to the last, never off the route', () => {
    for (const { doors, moments } of walks) {
      const clauses = moments.map(({ label }) => label.clause);
      expect(clauses).not.toContain(offRoute);
      expect([...new Set(clauses)]).toEqual(Array.from({ length: doors + 1 }, (_unused, i) => i));
      expect(clauses).toEqual(clauses.toSorted((a, b) => a - b));
    }
  });

  it('count turns to the left up and let the target wander to the right meanwhile', () => {
    let turns = 0;
    for (const { moments } of walks)
      for (const [i, { label, taken }] of moments.entries()) {
        const next = moments[i + 1]?.label;
        const sign = taken === action.left ? 1 : taken === action.right ? -1 : 0;
        if (!next || sign === 0 || next.clause !== label.clause) continue;
        turns += 1;
        expect(next.turned).toBe((label.turned + sign + 24) % 24);
        expect(Math.abs(wrapped(next.bearing - label.bearing + sign * 15))).toBeLessThanOrEqual(1);
        expect(next.distance).toBe(label.distance);
      }
    expect(turns).toBeGreaterThan(50);
  });

  it('are within arm’s reach of the goal’s piece where the expert stops', () => {
    for (const { moments } of walks) {
      const last = moments.at(-1);
      expect(last?.taken).toBe(action.stop);
      expect(last?.label.distance).toBeLessThan(20);
    }
  });
});
