"""Room-to-Room data: episodes and the navigation graphs of Matterport scans, read from the user's own folder.

Graph rules (Anderson et al. 2018, as the published code behaves): included viewpoints; an edge where both are
included and one sees the other unobstructed; weight = 3-D distance; every distance by Dijkstra.
"""

from __future__ import annotations

import heapq
import json
import math
import os
from typing import Any, Dict, List, Optional, Tuple

# An instruction is scored for ids 0..2 of each path, also where a path has a fourth.
INSTRUCTIONS_PER_PATH = 3
EPISODE_FOLDERS = (os.path.join("tasks", "R2R", "data"), "episodes", "data", "")
CONNECTIVITY_FOLDERS = ("connectivity", os.path.join("tasks", "R2R", "connectivity"))

Point = Tuple[float, float, float]


class DataError(Exception):
    """The data folder is missing or not of a known layout; the message says what was looked for."""


class Scan:
    """One building: viewpoints, edges and shortest paths."""

    def __init__(self, scan_id: str, entries: List[Dict[str, Any]]) -> None:
        self.scan_id = scan_id
        included = {index: entry for index, entry in enumerate(entries) if entry["included"]}
        self.points: Dict[str, Point] = {
            entry["image_id"]: (entry["pose"][3], entry["pose"][7], entry["pose"][11]) for entry in included.values()
        }
        self.neighbours: Dict[str, Dict[str, float]] = {viewpoint: {} for viewpoint in self.points}
        for entry in included.values():
            for index, open_way in enumerate(entry["unobstructed"]):
                if open_way and index in included:
                    self._connect(entry["image_id"], included[index]["image_id"])
        self._distances: Dict[str, Dict[str, float]] = {}
        self._next_towards: Dict[str, Dict[str, str]] = {}

    def _connect(self, first: str, second: str) -> None:
        length = math.dist(self.points[first], self.points[second])
        self.neighbours[first][second] = length
        self.neighbours[second][first] = length

    def distances_from(self, source: str) -> Dict[str, float]:
        """Metres along the graph to every viewpoint that can be reached."""
        if source not in self._distances:
            self._search(source)
        return self._distances[source]

    def distance(self, first: str, second: str) -> float:
        if first == second:
            return 0.0
        return self.distances_from(second).get(first, math.inf)

    def next_hop(self, start: str, goal: str) -> str:
        """The viewpoint after `start` on a shortest path to `goal`."""
        self.distances_from(goal)
        return self._next_towards[goal][start]

    def _search(self, source: str) -> None:
        distances: Dict[str, float] = {}
        towards: Dict[str, str] = {}
        best = {source: 0.0}
        queue = [(0.0, source)]
        while queue:
            length, viewpoint = heapq.heappop(queue)
            if viewpoint in distances:
                continue
            distances[viewpoint] = length
            for neighbour, edge in self.neighbours[viewpoint].items():
                through = length + edge
                if through < best.get(neighbour, math.inf):
                    best[neighbour] = through
                    towards[neighbour] = viewpoint
                    heapq.heappush(queue, (through, neighbour))
        self._distances[source] = distances
        self._next_towards[source] = towards


class Episode:
    """One instruction of one path. Without a goal (test split) `path` holds the start only."""

    __slots__ = ("instruction_id", "scan_id", "heading", "path", "instruction", "has_goal")

    def __init__(self, item: Dict[str, Any], number: int) -> None:
        self.instruction_id = f"{item['path_id']}_{number}"
        self.scan_id = str(item["scan"])
        self.heading = float(item["heading"])
        self.path: List[str] = list(item["path"])
        self.instruction = str(item["instructions"][number]).strip()
        self.has_goal = len(self.path) > 1

    @property
    def start(self) -> str:
        return self.path[0]

    @property
    def goal(self) -> Optional[str]:
        return self.path[-1] if self.has_goal else None


class Dataset:
    """A data folder in the layout of the simulator's repository, or flat (`episodes/`, `connectivity/`)."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(os.path.expanduser(folder))
        self._connectivity = self._find(CONNECTIVITY_FOLDERS, lambda name: name.endswith("_connectivity.json"), "graphs")
        self._episodes = self._find(EPISODE_FOLDERS, _is_episode_file, "episode files R2R_<split>.json")
        self._loaded: Dict[str, List[Episode]] = {}
        self._scans: Dict[str, Scan] = {}

    def _find(self, folders: Any, wanted: Any, what: str) -> str:
        for relative in folders:
            candidate = os.path.join(self.folder, relative)
            if os.path.isdir(candidate) and any(wanted(name) for name in os.listdir(candidate)):
                return candidate
        looked = ", ".join(os.path.join(self.folder, relative) for relative in folders)
        raise DataError(f"no Room-to-Room {what} found; looked in {looked}")

    def splits(self) -> List[str]:
        found = {name[4:-5] for name in os.listdir(self._episodes) if _is_episode_file(name)}
        usual = [split for split in ("train", "val_seen", "val_unseen", "test") if split in found]
        return usual + sorted(found - set(usual))

    def episodes(self, split: str) -> List[Episode]:
        if split not in self._loaded:
            path = os.path.join(self._episodes, f"R2R_{split}.json")
            if not os.path.isfile(path):
                raise DataError(f"{path} does not exist; splits here: {', '.join(self.splits())}")
            with open(path, encoding="utf-8") as file:
                items = json.load(file)
            self._loaded[split] = [
                Episode(item, number)
                for item in items
                for number in range(min(INSTRUCTIONS_PER_PATH, len(item["instructions"])))
            ]
        return self._loaded[split]

    def scan(self, scan_id: str) -> Scan:
        if scan_id not in self._scans:
            path = os.path.join(self._connectivity, f"{scan_id}_connectivity.json")
            if not os.path.isfile(path):
                raise DataError(f"{path} does not exist; the episode needs the graph of this scan")
            with open(path, encoding="utf-8") as file:
                self._scans[scan_id] = Scan(scan_id, json.load(file))
        return self._scans[scan_id]


def _is_episode_file(name: str) -> bool:
    return name.startswith("R2R_") and name.endswith(".json")
