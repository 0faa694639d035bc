"""Between wire values and Gymnasium's spaces: actions in, observations and infos out.

Invariant: what goes out can be sent; members of `info` that cannot are left out.
"""

from __future__ import annotations

from typing import Any, Dict

import numpy


def to_action(space: Any, value: Any) -> Any:
    """The form `env.step` expects; raises ValueError for what is no action of the space."""
    kind = type(space).__name__
    if kind == "Discrete":
        return int(value if not hasattr(value, "reshape") else numpy.asarray(value).reshape(()))
    if kind == "Dict":
        return {name: to_action(inner, value[name]) for name, inner in space.spaces.items()}
    if kind == "Tuple":
        return tuple(to_action(inner, item) for inner, item in zip(space.spaces, value))
    if kind == "Text":
        return str(value)
    action = numpy.asarray(value, dtype=space.dtype)
    if action.shape != space.shape:
        raise ValueError(f"an action of shape {action.shape} does not fit {space}; it needs shape {space.shape}")
    return action


def from_action(action: Any) -> Any:
    """A sampled action as a wire value: whole numbers as int, arrays as arrays."""
    if isinstance(action, (numpy.integer, int)):
        return int(action)
    if isinstance(action, dict):
        return {name: from_action(member) for name, member in action.items()}
    if isinstance(action, tuple):
        return [from_action(item) for item in action]
    return action


def describe_space(space: Any) -> Dict[str, Any]:
    """Kind, shape and bounds, for the metadata and for authors of policies."""
    kind = type(space).__name__
    if kind == "Discrete":
        return {"type": "discrete", "n": int(space.n), "start": int(getattr(space, "start", 0))}
    if kind == "Dict":
        return {"type": "dict", "spaces": {name: describe_space(inner) for name, inner in space.spaces.items()}}
    if kind == "Tuple":
        return {"type": "tuple", "spaces": [describe_space(inner) for inner in space.spaces]}
    if kind == "Box":
        return {
            "type": "box",
            "shape": list(space.shape),
            "dtype": str(space.dtype),
            "low": float(numpy.min(space.low)) if space.shape else float(space.low),
            "high": float(numpy.max(space.high)) if space.shape else float(space.high),
        }
    return {"type": kind.lower(), "text": str(space)}


def plain_info(info: Any) -> Any:
    """`info` without members that cannot be sent (objects of the simulator, functions)."""
    if not info:
        return {}
    plain = {}
    for name, value in info.items():
        kind = type(value)
        # Simulators report a handful of float64 scalars with every step.
        kept = float(value) if kind is numpy.float64 else value if kind in _SIMPLE else _plain(value, 0)
        if kept is not _DROPPED:
            plain[name if type(name) is str else str(name)] = kept
    return plain


_SIMPLE = frozenset((float, int, bool, str))
_DROPPED = object()
_SENDABLE = (str, bool, int, float, bytes)


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, numpy.generic):
        return value.item() if value.dtype.kind in "biuf" else _DROPPED
    if value is None or isinstance(value, _SENDABLE):
        return value
    if isinstance(value, numpy.ndarray):
        return value if value.dtype.kind in "biufc" else _DROPPED
    if depth > 8:
        return _DROPPED
    if isinstance(value, dict):
        members = {str(name): _plain(member, depth + 1) for name, member in value.items()}
        return {name: member for name, member in members.items() if member is not _DROPPED}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [_plain(item, depth + 1) for item in value]
        return [item for item in items if item is not _DROPPED]
    return _DROPPED
