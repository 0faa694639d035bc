"""MessagePack as AgentCanvas's transport uses it: extension type 1 carries arrays (tag, meta, raw bytes).

Decoding gives numpy arrays where numpy is importable, else ArrayValue; torch and PIL only where the process has
loaded them. Numbers, texts, bytes, lists and maps follow the MessagePack specification.
"""

from __future__ import annotations

import struct
import sys
from typing import Any, Dict, List, Tuple

from .array_forms import array_from_bytes, array_parts
from .values import unsendable

BLOB_EXTENSION = 1
TAG_ARRAY = 0
TAG_TORCH = 1
TAG_PIL = 2
MAX_DEPTH = 500


def pack(value: Any) -> bytes:
    parts: List[bytes] = []
    _pack(value, parts, 0)
    return b"".join(parts)


def _pack(value: Any, out: List[bytes], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"a value nested deeper than {MAX_DEPTH} levels cannot be sent")
    if value is None:
        out.append(b"\xc0")
    elif isinstance(value, bool):
        out.append(b"\xc3" if value else b"\xc2")
    elif isinstance(value, int):
        out.append(_packed_integer(int(value)))
    elif isinstance(value, float):
        out.append(b"\xcb" + struct.pack(">d", value))
    elif isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        out.append(_length(len(data), (0xA0, 32), (0xD9, 0xDA, 0xDB)) + data)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        out.append(_length(len(data), None, (0xC4, 0xC5, 0xC6)) + data)
    elif isinstance(value, dict):
        out.append(_length(len(value), (0x80, 16), (None, 0xDE, 0xDF)))
        for key, member in value.items():
            _pack(key, out, depth + 1)
            _pack(member, out, depth + 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        out.append(_length(len(value), (0x90, 16), (None, 0xDC, 0xDD)))
        for item in value:
            _pack(item, out, depth + 1)
    else:
        _pack_library_value(value, out, depth)


def _packed_integer(value: int) -> bytes:
    if 0 <= value < 128:
        return struct.pack("B", value)
    if -32 <= value < 0:
        return struct.pack("b", value)
    for code, form, low, high in (
        (0xCC, ">B", 0, 0xFF),
        (0xCD, ">H", 0, 0xFFFF),
        (0xCE, ">I", 0, 0xFFFFFFFF),
        (0xD0, ">b", -0x80, 0x7F),
        (0xD1, ">h", -0x8000, 0x7FFF),
        (0xD2, ">i", -0x80000000, 0x7FFFFFFF),
        (0xCF, ">Q", 0, 2**64 - 1),
        (0xD3, ">q", -(2**63), 2**63 - 1),
    ):
        if low <= value <= high:
            return struct.pack("B", code) + struct.pack(form, value)
    raise ValueError(f"the integer {value} does not fit into MessagePack's 64 bits")


def _length(size: int, fixed: Any, codes: Tuple[Any, int, int]) -> bytes:
    if fixed is not None and size < fixed[1]:
        return struct.pack("B", fixed[0] | size)
    if codes[0] is not None and size < 1 << 8:
        return struct.pack(">BB", codes[0], size)
    if size < 1 << 16:
        return struct.pack(">BH", codes[1], size)
    return struct.pack(">BI", codes[2], size)


def _pack_library_value(value: Any, out: List[bytes], depth: int) -> None:
    parts = array_parts(value)
    if parts is not None:
        dtype, shape, data = parts
        torch = sys.modules.get("torch")
        is_torch = torch is not None and isinstance(value, getattr(torch, "Tensor", ()))
        out.append(_blob(TAG_TORCH if is_torch else TAG_ARRAY, {"dtype": dtype, "shape": list(shape)}, data))
        return
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        _pack(value.item(), out, depth + 1)
        return
    image_module = sys.modules.get("PIL.Image")
    if image_module is not None and isinstance(value, image_module.Image):
        image = value.convert("RGB")
        meta = {"dtype": "uint8", "shape": [image.height, image.width, 3], "mode": "RGB"}
        out.append(_blob(TAG_PIL, meta, image.tobytes()))
        return
    raise unsendable(value)


def _blob(tag: int, meta: Dict[str, Any], data: bytes) -> bytes:
    head = pack(meta)
    body = struct.pack(">BI", tag, len(head)) + head + data
    return struct.pack(">BIb", 0xC9, len(body), BLOB_EXTENSION) + body


def unpack(data: bytes) -> Any:
    """Raises ValueError when the bytes are not exactly one MessagePack value."""
    reader = _Reader(data)
    try:
        value = reader.value(0)
    except (struct.error, IndexError, UnicodeDecodeError, TypeError) as error:
        raise ValueError(f"not a MessagePack value: {error}") from error
    if reader.position != len(data):
        raise ValueError("bytes after the end of the MessagePack value")
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        code = self._number(">B")
        if code < 0x80:
            return code
        if code >= 0xE0:
            return code - 256
        if code < 0x90:
            return self._map(code & 0x0F, depth)
        if code < 0xA0:
            return self._list(code & 0x0F, depth)
        if code < 0xC0:
            return self._text(code & 0x1F)
        return self._coded(code, depth)

    def _coded(self, code: int, depth: int) -> Any:
        if code in _CONSTANTS:
            return _CONSTANTS[code]
        if code in _NUMBERS:
            return self._number(_NUMBERS[code])
        if code in _FIXED_EXTENSIONS:
            return self._extension(_FIXED_EXTENSIONS[code])
        if code not in _SIZED:
            raise ValueError(f"the code {code:#x} is not used in MessagePack")
        kind, form = _SIZED[code]
        size = self._number(form)
        if kind == "text":
            return self._text(size)
        if kind == "bytes":
            return self._take(size)
        if kind == "list":
            return self._list(size, depth)
        return self._map(size, depth) if kind == "map" else self._extension(size)

    def _number(self, form: str) -> Any:
        (number,) = struct.unpack_from(form, self._data, self.position)
        self.position += struct.calcsize(form)
        return number

    def _take(self, size: int) -> bytes:
        taken = self._data[self.position : self.position + size]
        if len(taken) != size:
            raise ValueError("the MessagePack value is cut off")
        self.position += size
        return bytes(taken)

    def _text(self, size: int) -> str:
        return self._take(size).decode("utf-8", "surrogatepass")

    def _list(self, size: int, depth: int) -> List[Any]:
        return [self.value(depth + 1) for _ in range(size)]

    def _map(self, size: int, depth: int) -> Dict[Any, Any]:
        return {self.value(depth + 1): self.value(depth + 1) for _ in range(size)}

    def _extension(self, size: int) -> Any:
        kind = self._number(">b")
        body = self._take(size)
        if kind != BLOB_EXTENSION:
            raise ValueError(f"unknown MessagePack extension {kind}")
        tag, head_size = struct.unpack_from(">BI", body)
        meta = unpack(body[5 : 5 + head_size])
        array = array_from_bytes(meta["dtype"], meta["shape"], body[5 + head_size :])
        return _library_value(tag, array, meta)


def _library_value(tag: int, array: Any, meta: Dict[str, Any]) -> Any:
    if tag == TAG_TORCH and "torch" in sys.modules:
        return sys.modules["torch"].from_numpy(array)
    if tag == TAG_PIL and "PIL.Image" in sys.modules:
        return sys.modules["PIL.Image"].fromarray(array)
    return array


_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_FIXED_EXTENSIONS = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_SIZED = {
    0xC4: ("bytes", ">B"),
    0xC5: ("bytes", ">H"),
    0xC6: ("bytes", ">I"),
    0xC7: ("extension", ">B"),
    0xC8: ("extension", ">H"),
    0xC9: ("extension", ">I"),
    0xD9: ("text", ">B"),
    0xDA: ("text", ">H"),
    0xDB: ("text", ">I"),
    0xDC: ("list", ">H"),
    0xDD: ("list", ">I"),
    0xDE: ("map", ">H"),
    0xDF: ("map", ">I"),
}
