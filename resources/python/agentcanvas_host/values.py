"""Hot path. Values of the host protocol: JSON with typed cells for what JSON lacks (docs/host-protocol.md, Values).

Encoding copies only containers; arrays become segments, never text. numpy, torch and PIL are recognised when user
code has loaded them and are never imported for their own sake, except numpy when an array arrives.
"""

from __future__ import annotations

import json
import json.encoder
import sys
from typing import Any, Callable, Dict, List, Optional

from .array_value import ArrayValue

MAX_SAFE_INTEGER = 2**53 - 1
SHARED_MEMORY_BYTES = 256 * 1024
# Below this an array is copied rather than referred to.
SMALL_ARRAY_BYTES = 4096
MAX_KEPT_TEXTS = 1024

# numpy's dtype.str -> name on the wire; big-endian arrays are converted first.
DTYPE_NAMES = {
    "|b1": "bool",
    "|u1": "uint8",
    "|i1": "int8",
    "<u2": "uint16",
    "<i2": "int16",
    "<u4": "uint32",
    "<i4": "int32",
    "<u8": "uint64",
    "<i8": "int64",
    "<f2": "float16",
    "<f4": "float32",
    "<f8": "float64",
    "<c8": "complex64",
    "<c16": "complex128",
}

escape_text = json.encoder.encode_basestring_ascii
# Names of the members of a mapping as they stand in JSON, with their colons; mappings repeat with every step.
_known_starts: Dict[Any, Optional[List[str]]] = {}
MAX_KEPT_MEMBERS = 64


def _member_starts(keys: Any) -> Optional[List[str]]:
    """None where a key is one that JSON cannot carry as it is."""
    starts: Optional[List[str]] = []
    for key in keys:
        if type(key) is not str or key[:1] == "$":
            starts = None
            break
        starts.append(escape_text(key) + ":")
    if len(keys) <= MAX_KEPT_MEMBERS:
        if len(_known_starts) >= MAX_KEPT_TEXTS:
            _known_starts.clear()
        _known_starts[keys] = starts
    return starts


Segments = List[Any]
# Takes a flat byte view; gives a slot number, or None when every slot is in use.
SlotWriter = Callable[[Any], Optional[int]]


class Encoder:
    """Turns Python values into what JSON can carry; binary parts go to `segments`."""

    def __init__(self) -> None:
        self.segments: Segments = []
        # Shared memory slots that the last text refers to.
        self.slots: List[int] = []
        self.write_slot: Optional[SlotWriter] = None
        # numpy's array type once one was met.
        self._array_type: Any = None
        # The end of an array's cell by dtype and shape.
        self._cell_ends: Dict[Any, str] = {}

    def to_json(self, value: Any) -> str:
        """JSON text of `value`. `segments` then holds the parts it refers to; take them before the next call."""
        self.segments = []
        if self.slots:
            self.slots = []
        if type(value) is not dict:
            return dump_json(self.encode(value))
        if len(value) == 1 and "outputs" in value and type(value["outputs"]) is dict:
            return '{"outputs":' + self._mapping_text(value["outputs"]) + "}"
        return self._mapping_text(value)

    def members_text(self, value: Dict[str, Any]) -> str:
        """`to_json` of a dict."""
        self.segments = []
        if self.slots:
            self.slots = []
        return self._mapping_text(value)

    def _mapping_text(self, value: Dict[Any, Any]) -> str:
        """Written as text at once: outputs of nodes are few members of plain kinds, and cells in between cost double."""
        keys = tuple(value)
        # Looked at first: what is encoded twice would occupy a shared memory slot that nobody acknowledges.
        starts = _known_starts.get(keys)
        if starts is None:
            starts = _member_starts(keys)
            if starts is None:
                return dump_json(self.encode(value))
        texts = []
        for start, member in zip(starts, value.values()):
            if member is False:
                texts.append(start + "false")
                continue
            if member is True:
                texts.append(start + "true")
                continue
            kind = type(member)
            if kind is float and member - member == 0.0:
                texts.append(start + float.__repr__(member))
            elif kind is dict:
                texts.append(start + (self._mapping_text(member) if member else "{}"))
            elif kind is self._array_type and member.nbytes < SMALL_ARRAY_BYTES:
                texts.append(start + self._small_array_text(member))
            elif kind is str:
                texts.append(start + escape_text(member))
            else:
                texts.append(start + dump_json(self.encode(member)))
        return "{" + ",".join(texts) + "}"

    def _small_array_text(self, array: Any) -> str:
        end = self._cell_ends.get((array.dtype, array.shape))
        if end is None:
            dtype = DTYPE_NAMES.get(array.dtype.str)
            if dtype is None:
                return dump_json(self.encode(array))
            if len(self._cell_ends) >= MAX_KEPT_TEXTS:
                self._cell_ends.clear()
            end = ',"d":"%s","s":[%s]}' % (dtype, ",".join(map(str, array.shape)))
            self._cell_ends[array.dtype, array.shape] = end
        self.segments.append(array.tobytes())
        return '{"$a":%d%s' % (len(self.segments) - 1, end)

    def encode(self, value: Any) -> Any:
        kind = type(value)
        if kind is str or value is None or kind is bool:
            return value
        if kind is float:
            # x - x is 0 exactly for finite numbers. JSON has a negative zero; only JavaScript does not write it.
            if value - value == 0.0:
                return value
            return {"$f": _float_name(value)}
        if kind is int:
            if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
                return value
            return {"$i": str(value)}
        if kind is dict:
            return self._encode_mapping(value)
        if kind is list:
            encode = self.encode
            return [encode(item) for item in value]
        if kind is tuple:
            return {"$t": [self.encode(item) for item in value]}
        return self._encode_other(value, kind)

    def _encode_mapping(self, value: Dict[Any, Any]) -> Any:
        encode = self.encode
        encoded = {}
        for key, member in value.items():
            if type(key) is not str or key[:1] == "$":
                return self._encode_unusual_mapping(value, encoded)
            # Texts, flags and rewards are most of what nodes return; a call each would be half of the cost.
            member_kind = type(member)
            plain = (
                member_kind is bool
                or member_kind is str
                or member is None
                or (member_kind is float and member - member == 0.0)
            )
            encoded[key] = member if plain else encode(member)
        return encoded

    def _encode_unusual_mapping(self, value: Dict[Any, Any], done: Dict[Any, Any]) -> Any:
        # `done` is used again: a part encoded twice would occupy a shared memory slot that nobody acknowledges.
        cell = "$o" if all(isinstance(key, str) for key in value) else "$m"
        pairs = [[key, member] for key, member in done.items()]
        for key in list(value)[len(done) :]:
            pairs.append([self.encode(key), self.encode(value[key])])
        return {cell: pairs}

    def _encode_other(self, value: Any, kind: type) -> Any:
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            if kind is numpy.ndarray or isinstance(value, numpy.ndarray):
                self._array_type = numpy.ndarray
                return self._encode_numpy(value, numpy)
            if isinstance(value, numpy.generic):
                return self._encode_numpy_scalar(value, numpy)
        if isinstance(value, (bytes, bytearray)):
            return self._bytes_cell(value)
        if isinstance(value, memoryview):
            return self._bytes_cell(value.tobytes())
        if isinstance(value, (set, frozenset)):
            return {"$s": [self.encode(item) for item in value]}
        if isinstance(value, ArrayValue):
            return self._array_cell(value.dtype, value.shape, value.data, value.nbytes)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return self.encode(int(value))
        if isinstance(value, float):
            return self.encode(float(value))
        if isinstance(value, dict):
            return self._encode_mapping(value)
        if isinstance(value, list):
            return [self.encode(item) for item in value]
        if isinstance(value, tuple):
            return {"$t": [self.encode(item) for item in value]}
        return self._encode_library_value(value, kind)

    def _encode_numpy(self, array: Any, numpy: Any) -> Any:
        dtype = DTYPE_NAMES.get(array.dtype.str)
        if dtype is None:
            array, dtype = _to_wire_dtype(array, numpy)
        if array.nbytes < SMALL_ARRAY_BYTES:
            return self._array_cell(dtype, array.shape, array.tobytes(), array.nbytes)
        flat = numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)
        return self._array_cell(dtype, array.shape, flat.data, array.nbytes)

    def _encode_numpy_scalar(self, value: Any, numpy: Any) -> Any:
        if value.dtype.kind in "biufSU":
            return self.encode(value.item())
        if value.dtype.kind == "c":
            return self._encode_numpy(numpy.asarray(value), numpy)
        raise unsendable(value)

    def _encode_library_value(self, value: Any, kind: type) -> Any:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
            import numpy

            tensor = value.detach().cpu()
            if str(tensor.dtype) == "torch.bfloat16":
                tensor = tensor.float()
            return self._encode_numpy(tensor.resolve_conj().resolve_neg().numpy(), numpy)
        image_module = sys.modules.get("PIL.Image")
        if image_module is not None and isinstance(value, image_module.Image):
            image = value if value.mode == "RGB" else value.convert("RGB")
            return self._array_cell("uint8", (image.height, image.width, 3), image.tobytes(), image.height * image.width * 3)
        raise unsendable(value)

    def _bytes_cell(self, data: Any) -> Any:
        self.segments.append(data)
        return {"$b": len(self.segments) - 1}

    def _array_cell(self, dtype: str, shape: Any, data: Any, size: int) -> Any:
        if size >= SHARED_MEMORY_BYTES and self.write_slot is not None:
            slot = self.write_slot(data)
            if slot is not None:
                self.slots.append(slot)
                return {"$h": slot, "n": size, "d": dtype, "s": list(shape)}
        self.segments.append(data)
        return {"$a": len(self.segments) - 1, "d": dtype, "s": list(shape)}


def _to_wire_dtype(array: Any, numpy: Any) -> Any:
    if array.dtype.str[0] == ">":
        swapped = array.astype(array.dtype.newbyteorder("<"))
        dtype = DTYPE_NAMES.get(swapped.dtype.str)
        if dtype is not None:
            return swapped, dtype
    raise TypeError(
        f"an array of dtype {array.dtype} cannot be sent; convert it to one of {', '.join(DTYPE_NAMES.values())}"
    )


def unsendable(value: Any) -> TypeError:
    kind = type(value)
    return TypeError(
        f"a value of type {kind.__module__}.{kind.__qualname__} cannot be sent; "
        "return numbers, texts, lists, dicts, bytes or arrays"
    )


def _float_name(value: float) -> str:
    if value != value:
        return "nan"
    return "inf" if value > 0 else "-inf"


class Decoder:
    """Turns received JSON into Python values. Cells are resolved while the text is parsed, innermost first."""

    def __init__(self) -> None:
        self.segments: Segments = []
        self.read_slot: Optional[Callable[[int, int], Any]] = None
        self._scan_plain = json.JSONDecoder().scan_once
        self._scan_cells = json.JSONDecoder(object_hook=self._resolve).scan_once
        self._cells: Dict[str, Callable[[Dict[str, Any]], Any]] = {
            "$f": lambda cell: float(cell["$f"]) if cell["$f"] != "-0" else -0.0,
            "$i": lambda cell: int(cell["$i"]),
            "$b": lambda cell: bytes(self.segments[cell["$b"]]),
            "$t": lambda cell: tuple(cell["$t"]),
            "$s": lambda cell: _hashed(set, cell["$s"]),
            "$m": lambda cell: _hashed(dict, cell["$m"]),
            "$o": lambda cell: dict(cell["$o"]),
            "$a": lambda cell: _array_from(cell["d"], cell["s"], self.segments[cell["$a"]]),
            "$h": self._shared_array,
        }

    def from_json(self, text: str, segments: Segments) -> Any:
        """The value of `text`. Raises ValueError, KeyError or IndexError when it is not of the right form."""
        if '"$' not in text:
            value, end = self._scan_plain(text, 0)
        else:
            self.segments = segments
            value, end = self._scan_cells(text, 0)
            self.segments = []
        if end != len(text) and text[end:].strip(" "):
            raise ValueError("text after the end of the value")
        return value

    def _resolve(self, members: Dict[str, Any]) -> Any:
        for key in members:
            if key[:1] == "$":
                resolve = self._cells.get(key)
                return members if resolve is None else resolve(members)
            return members
        return members

    def _shared_array(self, cell: Dict[str, Any]) -> Any:
        if self.read_slot is None:
            raise ValueError("a shared memory slot was named, but none was negotiated")
        return _array_from(cell["d"], cell["s"], self.read_slot(cell["$h"], cell["n"]))


def _hashed(make: Callable[[Any], Any], items: List[Any]) -> Any:
    """Sets and keys of other languages may hold what Python cannot hash; those arrive as lists."""
    try:
        return make(items)
    except TypeError:
        return items


_numpy_missing = False


def _array_from(dtype: str, shape: List[int], data: Any) -> Any:
    """A numpy array that owns or shares `data` and may be written to, else an ArrayValue."""
    global _numpy_missing
    numpy = sys.modules.get("numpy")
    if numpy is None and not _numpy_missing:
        try:
            import numpy
        except ImportError:
            _numpy_missing = True
    if numpy is None:
        return ArrayValue(dtype, shape, data)
    if len(data) == 0:
        return numpy.zeros(shape, dtype=dtype)
    return numpy.frombuffer(data, dtype=dtype).reshape(shape)


def _make_dump() -> Callable[[Any], str]:
    """json.dumps with its C encoder kept: making a new one for every value costs more than a small value."""
    options = dict(skipkeys=False, sort_keys=False, allow_nan=False)
    make = json.encoder.c_make_encoder
    escape = json.encoder.encode_basestring_ascii
    if make is None:
        return json.JSONEncoder(check_circular=True, separators=(",", ":"), **options).encode

    def refuse(value: Any) -> Any:
        raise unsendable(value)

    chunks = make(None, refuse, escape, None, ":", ",", options["sort_keys"], options["skipkeys"], options["allow_nan"])
    join = "".join

    def dump(value: Any) -> str:
        if type(value) is str:
            return escape(value)
        return join(chunks(value, 0))

    return dump


dump_json = _make_dump()
