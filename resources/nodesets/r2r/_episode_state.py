"""The living environment: which episode is on, where the agent is, what it may do; observations in numbers and words.

Choosing an episode resets it. `observe` does not change anything.
"""

from __future__ import annotations

import math
import os
from typing import Any, Dict, List, Optional

from ._metrics import score
from ._simulator import HALF_VIEW_RADIANS, Simulator, Way
from ._world import DataError, Dataset, Episode

ACTION_NAMES = ("stop", "forward", "left", "right", "up", "down")
DATA_VARIABLE = "R2R_DATA_DIR"


class Environment:
    def __init__(self) -> None:
        self.data_dir = os.environ.get(DATA_VARIABLE, "")
        self.split = "val_unseen"
        self.episode_index = 0
        self.done = False
        self._dataset: Optional[Dataset] = None
        self._episode: Optional[Episode] = None
        self._simulator: Optional[Simulator] = None

    @property
    def dataset(self) -> Dataset:
        if self._dataset is None:
            if not self.data_dir:
                raise DataError(
                    f"no Room-to-Room data folder: set the selector data_dir, or the variable {DATA_VARIABLE}"
                )
            self._dataset = Dataset(self.data_dir)
        return self._dataset

    def choose_data(self, folder: str) -> None:
        if folder != self.data_dir or self._dataset is None:
            self.data_dir = folder
            self._dataset = None
            self._leave()

    def choose_split(self, split: str) -> None:
        if split != self.split:
            self.split = split
            self.episode_index = 0
            self._leave()

    def choose_episode(self, index: int) -> None:
        episodes = self.dataset.episodes(self.split)
        if not 0 <= index < len(episodes):
            raise DataError(f"episode {index} does not exist: {self.split} has episodes 0 to {len(episodes) - 1}")
        self.episode_index = index
        self._leave()

    def reset(self) -> None:
        self._leave()
        self._begin()

    def _leave(self) -> None:
        self._episode = None
        self._simulator = None
        self.done = False

    def _begin(self) -> None:
        episodes = self.dataset.episodes(self.split)
        if self.episode_index >= len(episodes):
            raise DataError(f"episode {self.episode_index} does not exist: {self.split} has {len(episodes)}")
        self._episode = episodes[self.episode_index]
        scan = self.dataset.scan(self._episode.scan_id)
        self._simulator = Simulator(scan, self._episode.start, self._episode.heading)

    @property
    def episode(self) -> Episode:
        if self._episode is None:
            self._begin()
        assert self._episode is not None
        return self._episode

    @property
    def simulator(self) -> Simulator:
        if self._simulator is None:
            self._begin()
        assert self._simulator is not None
        return self._simulator

    def act(self, action: Any) -> None:
        """Applies one action; after "stop" nothing changes any more."""
        simulator = self.simulator
        if self.done:
            return
        name = self._action_name(action)
        if name == "stop":
            self.done = True
        elif name == "forward":
            simulator.forward()
        elif name in ("left", "right"):
            simulator.turn(1 if name == "right" else -1)
        elif name in ("up", "down"):
            simulator.look(1 if name == "up" else -1)
        else:
            simulator.move(name)

    def _action_name(self, action: Any) -> str:
        if isinstance(action, bool) or action is None:
            raise ValueError(f"{action!r} is no action; use one of {', '.join(ACTION_NAMES)} or a viewpoint id")
        if isinstance(action, (int, float)):
            number = int(action)
            if not 0 <= number < len(ACTION_NAMES):
                raise ValueError(f"{action!r} is no action; numbers are 0 (stop) to {len(ACTION_NAMES) - 1} (down)")
            return ACTION_NAMES[number]
        text = str(action).strip()
        return text.lower() if text.lower() in ACTION_NAMES else text

    def metrics(self) -> Dict[str, float]:
        """Empty for splits without goals."""
        if not self.episode.has_goal:
            return {}
        simulator = self.simulator
        path = [viewpoint for viewpoint, _, _ in simulator.trajectory]
        return {**score(simulator.scan, path, self.episode.path), "actions": float(len(path) - 1)}

    def observation(self) -> Dict[str, Any]:
        simulator = self.simulator
        return {
            "instruction_id": self.episode.instruction_id,
            "instruction": self.episode.instruction,
            "scan": self.episode.scan_id,
            "viewpoint": simulator.viewpoint,
            "heading_degrees": simulator.heading_index * 30,
            "elevation_degrees": (simulator.elevation_index - 1) * 30,
            "step": len(simulator.trajectory) - 1,
            "candidates": [_candidate(number, way) for number, way in enumerate(simulator.ways(), 1)],
        }

    def pose(self) -> Dict[str, List[float]]:
        """Metres, z up; the orientation turns about z and looks along +y at heading 0."""
        simulator = self.simulator
        half = -simulator.heading / 2
        x, y, z = simulator.scan.points[simulator.viewpoint]
        return {"position": [x, y, z], "orientation": [0.0, 0.0, math.sin(half), math.cos(half)]}


def _candidate(number: int, way: Way) -> Dict[str, Any]:
    heading = math.degrees(way.relative_heading)
    elevation = math.degrees(way.relative_elevation)
    return {
        "number": number,
        "viewpoint": way.viewpoint,
        "relative_heading_degrees": round(heading, 1),
        "relative_elevation_degrees": round(elevation, 1),
        "distance_metres": round(way.distance, 2),
        "in_view": abs(way.relative_heading) <= HALF_VIEW_RADIANS,
        "words": f"{way.distance:.1f} m {_direction(heading)}{_slope(elevation)}",
    }


def _direction(degrees: float) -> str:
    side = "right" if degrees > 0 else "left"
    size = abs(degrees)
    if size <= 15:
        return "straight ahead"
    if size <= 60:
        return f"ahead to the {side}"
    if size <= 120:
        return f"to the {side}"
    if size <= 165:
        return f"behind to the {side}"
    return "behind"


def _slope(degrees: float) -> str:
    if abs(degrees) < 10:
        return ""
    return ", upwards" if degrees > 0 else ", downwards"


def in_words(observation: Dict[str, Any]) -> str:
    """The observation as a text for a language model: numbered ways to go, 0 to stop."""
    lines = [f"Instruction: {observation['instruction']}", f"Step {observation['step']}. From here you can go:", "0: stop here"]
    lines += [f"{candidate['number']}: {candidate['words']}" for candidate in observation["candidates"]]
    return "\n".join(lines)
