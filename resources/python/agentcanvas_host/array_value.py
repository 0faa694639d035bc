"""An array for interpreters without numpy: dtype, shape and the bytes, as they came over the connection.

Invariant: `len(data)` is the item size times the product of the shape; row-major, little-endian.
"""

from __future__ import annotations

import struct
import sys
from typing import Any, List, Sequence, Union

# dtype -> (struct format of one item, bytes of one item); complex numbers are pairs.
ITEM_FORMATS = {
    "bool": ("?", 1),
    "uint8": ("B", 1),
    "int8": ("b", 1),
    "uint16": ("H", 2),
    "int16": ("h", 2),
    "uint32": ("I", 4),
    "int32": ("i", 4),
    "uint64": ("Q", 8),
    "int64": ("q", 8),
    "float16": ("e", 2),
    "float32": ("f", 4),
    "float64": ("d", 8),
    "complex64": ("ff", 8),
    "complex128": ("dd", 16),
}

Buffer = Union[bytes, bytearray, memoryview]


class ArrayValue:
    """Row-major array without numpy. `data` may be changed; `tolist()` gives nested Python lists."""

    __slots__ = ("dtype", "shape", "data")

    def __init__(self, dtype: str, shape: Sequence[int], data: Buffer) -> None:
        if dtype not in ITEM_FORMATS:
            raise ValueError(f"unknown dtype {dtype!r}; known: {', '.join(ITEM_FORMATS)}")
        self.dtype = dtype
        self.shape = tuple(int(size) for size in shape)
        self.data = data
        if len(memoryview(data).cast("B") if len(data) else b"") != self.size * ITEM_FORMATS[dtype][1]:
            raise ValueError(f"{len(data)} bytes do not fill an array of {dtype} with shape {self.shape}")

    @classmethod
    def from_list(cls, dtype: str, values: Any) -> "ArrayValue":
        """From nested lists of equal lengths."""
        shape: List[int] = []
        level = values
        while isinstance(level, (list, tuple)):
            shape.append(len(level))
            level = level[0] if level else None
        flat = [values]
        for size in shape:
            if any(len(item) != size for item in flat):
                raise ValueError("rows of different lengths cannot become an array")
            flat = [entry for item in flat for entry in item]
        if dtype.startswith("complex"):
            flat = [part for item in flat for part in (complex(item).real, complex(item).imag)]
        code = ITEM_FORMATS[dtype][0][0]
        return cls(dtype, shape, bytearray(struct.pack(f"<{len(flat)}{code}", *flat)))

    @property
    def size(self) -> int:
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def nbytes(self) -> int:
        return self.size * ITEM_FORMATS[self.dtype][1]

    def tolist(self) -> Any:
        code = ITEM_FORMATS[self.dtype][0]
        flat: List[Any] = list(struct.unpack(f"<{self.size * len(code)}{code[0]}", bytes(self.data)))
        if len(code) == 2:
            flat = [complex(flat[index], flat[index + 1]) for index in range(0, len(flat), 2)]
        return _nested(flat, self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayValue):
            return NotImplemented
        same_form = (self.dtype, self.shape) == (other.dtype, other.shape)
        return same_form and bytes(self.data) == bytes(other.data)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """So that code which has numpy after all can use it: `numpy.asarray(value)`."""
        numpy = sys.modules.get("numpy") or __import__("numpy")
        array = numpy.frombuffer(bytearray(self.data), dtype=self.dtype).reshape(self.shape)
        return array if dtype is None else array.astype(dtype)

    def __repr__(self) -> str:
        return f"ArrayValue({self.dtype!r}, {self.shape!r})"


def _nested(flat: List[Any], shape: Sequence[int]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = 1
    for length in shape[1:]:
        step *= length
    return [_nested(flat[row * step : (row + 1) * step], shape[1:]) for row in range(shape[0])]
