"""Values as AgentCanvas's JSON transport carries them: images as base64 PNG, other arrays as `__ndarray__` members."""

from __future__ import annotations

import base64
from typing import Any

from agentcanvas_host.array_forms import array_from_bytes, array_parts, to_plain

MSGPACK_CONTENT_TYPE = "application/msgpack"
MSGPACK_OK = True


def serialize_value(value: Any, wire_type: str) -> Any:
    if value is None:
        return None
    if wire_type == "IMAGE" and array_parts(value) is not None:
        from ..standard.wire_types import image_to_base64

        return image_to_base64(value)
    return to_plain(value, _marked)


def deserialize_value(value: Any, wire_type: str) -> Any:
    if wire_type == "IMAGE" and isinstance(value, str):
        from ..standard.wire_types import base64_to_image

        return base64_to_image(value)
    return _restored(value)


def pack_body(value: Any) -> bytes:
    from agentcanvas_host.msgpack import pack

    return pack(value)


def unpack_body(data: bytes) -> Any:
    from agentcanvas_host.msgpack import unpack

    return unpack(data)


def _marked(dtype: str, shape: Any, data: bytes) -> Any:
    return {"__ndarray__": base64.b64encode(data).decode("ascii"), "dtype": dtype, "shape": list(shape)}


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        if "__ndarray__" in value:
            return array_from_bytes(value["dtype"], value["shape"], base64.b64decode(value["__ndarray__"]))
        return {key: _restored(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_restored(item) for item in value]
    return value
