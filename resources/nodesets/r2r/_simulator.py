"""The discrete panoramic simulator: 12 headings of 30 degrees, 3 elevations, moves along the edges in view.

Behaves like the Matterport3D simulator with a 640 x 480 camera of 60 degrees vertical field of view: what lies within
40 degrees of the heading is navigable, whatever its elevation; a move keeps heading and elevation.
"""

from __future__ import annotations

import math
from typing import List, NamedTuple, Optional, Tuple

from ._world import Scan

STEP_RADIANS = math.pi / 6
HEADING_COUNT = 12
HALF_VIEW_RADIANS = math.radians(60.0 * 640.0 / 480.0 / 2.0)
FULL_TURN = 2 * math.pi


class Way(NamedTuple):
    """A neighbour as seen from the current view; angles in radians, right and up are positive."""

    viewpoint: str
    relative_heading: float
    relative_elevation: float
    distance: float


class Simulator:
    """Where the agent is and looks. `trajectory` has one entry per action, the start included."""

    def __init__(self, scan: Scan, viewpoint: str, heading: float) -> None:
        self.scan = scan
        self.viewpoint = viewpoint
        self.heading_index = int(round(heading / STEP_RADIANS)) % HEADING_COUNT
        # 0 down, 1 level, 2 up.
        self.elevation_index = 1
        self.trajectory: List[Tuple[str, int, int]] = [self._entry()]

    @property
    def heading(self) -> float:
        return self.heading_index * STEP_RADIANS

    @property
    def elevation(self) -> float:
        return (self.elevation_index - 1) * STEP_RADIANS

    def ways(self) -> List[Way]:
        """Every neighbour, also those behind, sorted by angular distance from the view."""
        here = self.scan.points[self.viewpoint]
        found = []
        for neighbour, distance in self.scan.neighbours[self.viewpoint].items():
            point = self.scan.points[neighbour]
            east, north, up = point[0] - here[0], point[1] - here[1], point[2] - here[2]
            heading = _signed(math.atan2(east, north) - self.heading)
            elevation = math.atan2(up, math.hypot(east, north)) - self.elevation
            found.append(Way(neighbour, heading, elevation, distance))
        return sorted(found, key=lambda way: math.hypot(way.relative_heading, way.relative_elevation))

    def navigable(self) -> List[Way]:
        """Neighbours in view, nearest to its centre first; "forward" takes the first."""
        return [way for way in self.ways() if abs(way.relative_heading) <= HALF_VIEW_RADIANS]

    def turn(self, steps: int) -> None:
        """Positive is right (clockwise)."""
        self.heading_index = (self.heading_index + steps) % HEADING_COUNT
        self.trajectory.append(self._entry())

    def look(self, steps: int) -> None:
        self.elevation_index = min(2, max(0, self.elevation_index + steps))
        self.trajectory.append(self._entry())

    def move(self, viewpoint: str) -> None:
        """To a neighbour. One out of view is turned to first, as a panoramic agent does in one action."""
        way = next((way for way in self.ways() if way.viewpoint == viewpoint), None)
        if way is None:
            raise ValueError(f"{viewpoint} is no neighbour of {self.viewpoint}; stay on the edges of the graph")
        if abs(way.relative_heading) > HALF_VIEW_RADIANS:
            turned = self.heading + way.relative_heading
            self.heading_index = int(round(turned / STEP_RADIANS)) % HEADING_COUNT
        self.viewpoint = viewpoint
        self.trajectory.append(self._entry())

    def forward(self) -> bool:
        """False when nothing is in view; the action then changes nothing."""
        ahead: Optional[Way] = next(iter(self.navigable()), None)
        if ahead is None:
            self.trajectory.append(self._entry())
            return False
        self.move(ahead.viewpoint)
        return True

    def _entry(self) -> Tuple[str, int, int]:
        return self.viewpoint, self.heading_index, self.elevation_index


def _signed(angle: float) -> float:
    """Into (-pi, pi]."""
    angle %= FULL_TURN
    return angle - FULL_TURN if angle > math.pi else angle
