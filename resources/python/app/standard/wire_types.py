"""Names of the wire types, checks of their canonical values, and conversions to base64 PNG (these need Pillow)."""

from __future__ import annotations

import base64
import io
from typing import Any

from agentcanvas_host.array_forms import array_parts, png_bytes

IMAGE = "IMAGE"
DEPTH = "DEPTH"
POSE = "POSE"
DISCRETE_ACTION = "DISCRETE_ACTION"
CONTROL = "CONTROL"
TEXT = "TEXT"
BOOL = "BOOL"
METRICS = "METRICS"
ANY = "ANY"
# Deprecated, still valid.
ACTION = "ACTION"
OBSERVATION = "OBSERVATION"
STEP_RESULT = "STEP_RESULT"

WIRE_TYPES = {
    IMAGE, DEPTH, POSE, DISCRETE_ACTION, CONTROL, TEXT, BOOL, METRICS, ANY, ACTION, OBSERVATION, STEP_RESULT,
}  # fmt: skip
WIRE_TYPE_ALIASES = {ACTION: DISCRETE_ACTION}
WIRE_FORMAT_SPEC = {
    IMAGE: "array (H, W, 3) uint8, RGB",
    DEPTH: "array (H, W) float32, metres, invalid 0",
    POSE: "{position: [x, y, z] metres, orientation: [x, y, z, w]}",
    DISCRETE_ACTION: "int or str, of the environment's action set",
    CONTROL: "{pos: [3], rot: [3] axis-angle, gripper: -1 to 1, joint_position?: [N]}",
    TEXT: "str",
    BOOL: "bool",
    METRICS: "{name: number}",
    ANY: "anything",
}


def is_list_type(wire_type: Any) -> bool:
    return isinstance(wire_type, str) and wire_type.startswith("LIST[") and wire_type.endswith("]")


def unwrap_list(wire_type: str) -> str:
    return wire_type[5:-1] if is_list_type(wire_type) else wire_type


def wrap_list(inner: str) -> str:
    return inner if is_list_type(inner) else f"LIST[{inner}]"


def is_valid_wire_type(wire_type: Any) -> bool:
    return isinstance(wire_type, str) and unwrap_list(wire_type) in WIRE_TYPES


def canonical_wire_type(wire_type: Any) -> Any:
    if is_list_type(wire_type):
        return wrap_list(canonical_wire_type(unwrap_list(wire_type)))
    return WIRE_TYPE_ALIASES.get(wire_type, wire_type) if isinstance(wire_type, str) else wire_type


def is_valid_image(value: Any) -> bool:
    parts = array_parts(value)
    return parts is not None and len(parts[1]) == 3 and parts[1][2] == 3


def is_valid_depth(value: Any) -> bool:
    parts = array_parts(value)
    return parts is not None and len(parts[1]) == 2


def is_valid_discrete_action(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


is_valid_action = is_valid_discrete_action


def is_valid_control(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in ("pos", "rot", "gripper", "joint_position"))


def is_valid_pose(value: Any) -> bool:
    return isinstance(value, dict) and "position" in value and "orientation" in value


def image_to_base64(image: Any) -> str:
    """Base64 PNG of an IMAGE."""
    return base64.b64encode(png_bytes(image)).decode("ascii")


def depth_to_base64(depth: Any) -> str:
    """Base64 PNG of a DEPTH, stretched to 0..255; for looking at, not for computing."""
    import numpy

    flat = numpy.squeeze(numpy.asarray(depth)).astype(numpy.float64)
    low, high = float(flat.min()), float(flat.max())
    span = high - low
    grey = ((flat - low) / span * 255).astype(numpy.uint8) if span > 1e-6 else numpy.zeros(flat.shape, numpy.uint8)
    return base64.b64encode(png_bytes(grey)).decode("ascii")


def base64_to_image(text: str) -> Any:
    """IMAGE from a base64 PNG or JPEG; needs Pillow and numpy."""
    import numpy
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(text))) as image:
        return numpy.array(image.convert("RGB"), dtype=numpy.uint8)
