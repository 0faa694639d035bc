"""A picture of the building's graph from above with the annotated path and the agent's, drawn without any library.

Grey: graph; green: annotated path; blue: the agent's path; circles: start (blue) and goal (green).
"""

from __future__ import annotations

from typing import Callable, Dict, List, Sequence, Tuple

from agentcanvas_host import ArrayValue

from ._world import Scan

Colour = Tuple[int, int, int]
Pixel = Tuple[int, int]
BACKGROUND: Colour = (250, 250, 248)
EDGE: Colour = (205, 208, 212)
REFERENCE: Colour = (34, 160, 84)
AGENT: Colour = (40, 98, 220)
MARGIN = 14


def draw_path(scan: Scan, reference: Sequence[str], trajectory: Sequence[str], size: int) -> ArrayValue:
    """IMAGE of size x size pixels, north up."""
    to_pixel = _projection(scan, size)
    pixels = bytearray(bytes(BACKGROUND) * (size * size))
    drawn: Dict[str, bool] = {}
    for viewpoint, neighbours in scan.neighbours.items():
        drawn[viewpoint] = True
        for neighbour in neighbours:
            if neighbour not in drawn:
                _line(pixels, size, to_pixel(viewpoint), to_pixel(neighbour), EDGE, 0)
    for path, colour, width in ((reference, REFERENCE, 2), (trajectory, AGENT, 1)):
        for first, second in zip(path, path[1:]):
            _line(pixels, size, to_pixel(first), to_pixel(second), colour, width)
    _disc(pixels, size, to_pixel(reference[-1]), 6, REFERENCE)
    _disc(pixels, size, to_pixel(trajectory[0]), 5, AGENT)
    _disc(pixels, size, to_pixel(trajectory[-1]), 3, (20, 20, 20))
    return ArrayValue("uint8", (size, size, 3), pixels)


def _projection(scan: Scan, size: int) -> Callable[[str], Pixel]:
    xs = [point[0] for point in scan.points.values()]
    ys = [point[1] for point in scan.points.values()]
    west, south = min(xs), min(ys)
    extent = max(max(xs) - west, max(ys) - south, 1.0)
    scale = (size - 2 * MARGIN - 1) / extent

    def to_pixel(viewpoint: str) -> Pixel:
        x, y, _ = scan.points[viewpoint]
        return int(MARGIN + (x - west) * scale), int(size - 1 - MARGIN - (y - south) * scale)

    return to_pixel


def _line(pixels: bytearray, size: int, start: Pixel, end: Pixel, colour: Colour, width: int) -> None:
    steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
    for step in range(steps + 1):
        x = start[0] + (end[0] - start[0]) * step // steps
        y = start[1] + (end[1] - start[1]) * step // steps
        _square(pixels, size, (x, y), width, colour)


def _square(pixels: bytearray, size: int, centre: Pixel, width: int, colour: Colour) -> None:
    left, right = max(0, centre[0] - width), min(size - 1, centre[0] + width)
    for y in range(max(0, centre[1] - width), min(size - 1, centre[1] + width) + 1):
        first = (y * size + left) * 3
        pixels[first : first + (right - left + 1) * 3] = bytes(colour) * (right - left + 1)


def _disc(pixels: bytearray, size: int, centre: Pixel, radius: int, colour: Colour) -> None:
    for row in range(-radius, radius + 1):
        y = centre[1] + row
        half = int((radius * radius - row * row) ** 0.5)
        left, right = max(0, centre[0] - half), min(size - 1, centre[0] + half)
        if 0 <= y < size and left <= right:
            first = (y * size + left) * 3
            pixels[first : first + (right - left + 1) * 3] = bytes(colour) * (right - left + 1)


__all__: List[str] = ["draw_path"]
