"""Arrays of whatever library, seen as dtype, shape and bytes; and images as PNG without any library."""

from __future__ import annotations

import struct
import sys
import zlib
from typing import Any, Callable, Optional, Sequence, Tuple

from .array_value import ArrayValue
from .values import DTYPE_NAMES, _array_from

ArrayParts = Tuple[str, Tuple[int, ...], bytes]


def array_parts(value: Any) -> Optional[ArrayParts]:
    """(dtype, shape, row-major bytes) of a numpy array, a torch tensor or an ArrayValue; else None."""
    if isinstance(value, ArrayValue):
        return value.dtype, value.shape, bytes(value.data)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
        value = value.detach().cpu().numpy()
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray):
        return None
    if value.dtype.str not in DTYPE_NAMES:
        value = value.astype(value.dtype.newbyteorder("<"))
    dtype = DTYPE_NAMES.get(value.dtype.str)
    if dtype is None:
        raise TypeError(f"an array of dtype {value.dtype} cannot be sent")
    return dtype, value.shape, value.tobytes()


def array_from_bytes(dtype: str, shape: Sequence[int], data: bytes) -> Any:
    return _array_from(dtype, list(shape), bytearray(data))


def to_plain(value: Any, array_form: Callable[[str, Sequence[int], bytes], Any]) -> Any:
    """Containers copied, arrays replaced by `array_form`, numpy scalars by Python's."""
    parts = array_parts(value)
    if parts is not None:
        return array_form(*parts)
    if isinstance(value, dict):
        return {key: to_plain(member, array_form) for key, member in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_plain(item, array_form) for item in value]
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    return value


def png_bytes(image: Any) -> bytes:
    """PNG of a (H, W, 3) or (H, W) array; values are taken as 0..255."""
    parts = array_parts(image)
    if parts is None:
        raise TypeError(f"an image must be an array, not {type(image).__name__}")
    dtype, shape, data = parts
    if dtype != "uint8":
        import numpy

        data = numpy.asarray(image).astype(numpy.uint8).tobytes()
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (3, 4)):
        raise ValueError(f"an image of shape {tuple(shape)} is not (H, W, 3), (H, W, 4) or (H, W)")
    height, width = shape[0], shape[1]
    channels = shape[2] if len(shape) == 3 else 1
    colour_type = {1: 0, 3: 2, 4: 6}[channels]
    stride = width * channels
    rows = b"".join(b"\0" + data[row * stride : (row + 1) * stride] for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
