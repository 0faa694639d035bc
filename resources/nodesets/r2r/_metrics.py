"""Metrics of Room-to-Room. Two rulers are in use for SPL; both are given and named.

Anderson et al. 2018 (arXiv:1807.06757) for success and SPL; Ilharco et al. 2019 (arXiv:1907.05446) for nDTW and
sDTW; Jain et al. 2019 (arXiv:1905.12255) for CLS. Distances are along the graph, in metres.
"""

from __future__ import annotations

import math
from typing import Dict, List, Sequence

from ._world import Scan

SUCCESS_METRES = 3.0
RULER = "SPL by the shortest path's length (Dijkstra); spl_by_reference by the annotated path's length"


def score(scan: Scan, trajectory: Sequence[str], reference: Sequence[str]) -> Dict[str, float]:
    """`trajectory`: viewpoint per entry; `reference`: the annotated path, its last viewpoint is the goal."""
    goal = reference[-1]
    from_goal = scan.distances_from(goal)
    length = path_length(scan, trajectory)
    shortest = from_goal[trajectory[0]]
    annotated = path_length(scan, reference)
    error = from_goal[trajectory[-1]]
    success = 1.0 if error < SUCCESS_METRES else 0.0
    predicted = without_repeats(trajectory)
    ndtw = normalised_dtw(scan, predicted, reference)
    return {
        "path_length": length,
        "navigation_error": error,
        "success": success,
        "oracle_success": 1.0 if min(from_goal[viewpoint] for viewpoint in trajectory) < SUCCESS_METRES else 0.0,
        "spl": success * _share(shortest, length),
        "spl_by_reference": success * _share(annotated, length),
        "ndtw": ndtw,
        "sdtw": success * ndtw,
        "cls": coverage_length_score(scan, predicted, reference),
    }


def _share(ruler: float, length: float) -> float:
    longer = max(length, ruler)
    return ruler / longer if longer > 0 else 1.0


def path_length(scan: Scan, path: Sequence[str]) -> float:
    return sum(scan.distance(first, second) for first, second in zip(path, path[1:]))


def without_repeats(path: Sequence[str]) -> List[str]:
    """Consecutive duplicates dropped: turning on the spot is no progress along the path."""
    return [viewpoint for index, viewpoint in enumerate(path) if index == 0 or viewpoint != path[index - 1]]


def normalised_dtw(scan: Scan, predicted: Sequence[str], reference: Sequence[str]) -> float:
    columns = [scan.distances_from(viewpoint) for viewpoint in reference]
    row = [0.0] + [math.inf] * len(reference)
    for viewpoint in predicted:
        below = [math.inf]
        for index, distances in enumerate(columns):
            below.append(distances[viewpoint] + min(row[index], row[index + 1], below[index]))
        row = below
    return math.exp(-row[-1] / (SUCCESS_METRES * len(reference)))


def coverage_length_score(scan: Scan, predicted: Sequence[str], reference: Sequence[str]) -> float:
    covered = [
        math.exp(-min(scan.distances_from(viewpoint)[other] for other in predicted) / SUCCESS_METRES)
        for viewpoint in reference
    ]
    coverage = sum(covered) / len(covered)
    expected = coverage * path_length(scan, reference)
    length = path_length(scan, predicted)
    denominator = expected + abs(expected - length)
    return coverage * expected / denominator if denominator > 0 else 0.0
