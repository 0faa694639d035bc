"""The two agents of the paper, as its published code behaves: SHORTEST (the teacher) and RANDOM.

Actions: "stop", "forward", "left", "right", "up", "down", or the id of a neighbouring viewpoint.
"""

from __future__ import annotations

import math
import random
from typing import Optional

from ._simulator import STEP_RADIANS, FULL_TURN, Simulator

MAX_RANDOM_ACTIONS = 30
RANDOM_FORWARDS = 5


def shortest_action(simulator: Simulator, goal: str) -> str:
    """What the teacher does here: turn towards the next viewpoint of the shortest path, then go."""
    if simulator.viewpoint == goal:
        return "stop"
    target = simulator.scan.next_hop(simulator.viewpoint, goal)
    for way in simulator.navigable():
        if way.viewpoint != target:
            continue
        if way.relative_heading > STEP_RADIANS:
            return "right"
        if way.relative_heading < -STEP_RADIANS:
            return "left"
        if way.relative_elevation > STEP_RADIANS and simulator.elevation_index < 2:
            return "up"
        if way.relative_elevation < -STEP_RADIANS and simulator.elevation_index > 0:
            return "down"
        return target
    if simulator.elevation_index != 1:
        return "up" if simulator.elevation_index == 0 else "down"
    return _turn_towards(simulator, target)


def _turn_towards(simulator: Simulator, target: str) -> str:
    here = simulator.scan.points[simulator.viewpoint]
    there = simulator.scan.points[target]
    wanted = math.atan2(there[0] - here[0], there[1] - here[1]) % FULL_TURN
    heading = simulator.heading
    if heading > wanted and heading - wanted < math.pi:
        return "left"
    if wanted > heading and wanted - heading > math.pi:
        return "left"
    return "right"


class RandomAgent:
    """0 to 11 turns to the right, then five moves forward, turning where nothing is ahead; at most 30 actions."""

    def __init__(self, seed: int, initial_turns: Optional[int] = None) -> None:
        turns = random.Random(seed).randrange(12) if initial_turns is None else initial_turns
        self._progress = -turns
        self._actions = 0

    def act(self, simulator: Simulator) -> str:
        if self._progress >= RANDOM_FORWARDS or self._actions >= MAX_RANDOM_ACTIONS:
            return "stop"
        self._actions += 1
        if self._progress < 0:
            self._progress += 1
            return "right"
        if simulator.navigable():
            self._progress += 1
            return "forward"
        return "right"
