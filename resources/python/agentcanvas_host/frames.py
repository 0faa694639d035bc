"""Hot path. Frames of the host protocol: a fixed head, a table of segment lengths, a JSON header, raw segments.

Reading goes into one reused buffer; what is handed out is copied from it, except large frames, which get their own
memory. Anything malformed raises ProtocolError, after which the connection must be closed.
"""

from __future__ import annotations

import select
import struct
from time import perf_counter
from typing import Any, Callable, List, Optional, Tuple

MAGIC = b"AC"
VERSION = 1
HEAD_BYTES = 16
TABLE_END_OF_ONE = HEAD_BYTES + 8
MAX_FRAME_BYTES = 1 << 30
MAX_HEADER_BYTES = 64 << 20
MAX_SEGMENTS = 65_535
# Up to this size the parts of a frame are joined and sent in one piece; above, they are sent from where they are.
JOIN_BYTES = 64 * 1024
BUFFER_BYTES = 256 * 1024
# Linux takes at most this many parts in one call.
MAX_PARTS = 512
# Readings between two attempts to wait awake, where the engine takes its time.
MOST_ASLEEP = 255

_HEAD = struct.Struct("<2sBBIII")
_HEAD_WORDS = struct.Struct("<IIII")
_FIRST_WORD = int.from_bytes(MAGIC + bytes((VERSION, 0)), "little")
_LENGTH = struct.Struct("<Q")
_NO_SEGMENTS: List[Any] = []
_HEAD_OF_ONE = struct.Struct("<2sBBIIIQ")
_SPACES = (b"", b" " * 7, b" " * 6, b" " * 5, b" " * 4, b" " * 3, b" " * 2, b" ")
_PADDING = (b"", b"\0" * 7, b"\0" * 6, b"\0" * 5, b"\0" * 4, b"\0" * 3, b"\0" * 2, b"\0")

Frame = Tuple[str, List[Any]]


class ProtocolError(Exception):
    """Bytes on the connection were not a valid frame."""


def build_frame(header: str, segments: List[Any]) -> List[Any]:
    """The parts of one frame, in order: one part when it is small."""
    text = header.encode("ascii")
    size = len(text)
    spaces = _SPACES[size & 7]
    if not segments:
        return [_HEAD.pack(MAGIC, VERSION, 0, size + len(spaces), 0, 0) + text + spaces]
    if len(segments) == 1:
        # One small array beside numbers is what most steps of an environment return.
        length = _byte_length(segments[0])
        if length < JOIN_BYTES and size < JOIN_BYTES:
            head = _HEAD_OF_ONE.pack(MAGIC, VERSION, 0, size + len(spaces), 1, 0, length)
            return [b"".join((head, text, spaces, segments[0], _PADDING[length & 7]))]
    text += spaces
    lengths = [_byte_length(segment) for segment in segments]
    total = HEAD_BYTES + 8 * len(segments) + len(text) + sum(lengths)
    if total > MAX_FRAME_BYTES or len(text) > MAX_HEADER_BYTES or len(segments) > MAX_SEGMENTS:
        raise ValueError(
            f"a value of {total} bytes in {len(segments)} arrays is too large for one message "
            "(64 MiB of text, 1 GiB in all, 65,535 arrays); send it in parts"
        )
    head = _HEAD.pack(MAGIC, VERSION, 0, len(text), len(segments), 0)
    table = struct.pack(f"<{len(lengths)}Q", *lengths)
    parts: List[Any] = [head, table, text]
    for segment, length in zip(segments, lengths):
        parts.append(segment)
        padding = _PADDING[length & 7]
        if padding:
            parts.append(padding)
    return [b"".join(parts)] if total <= JOIN_BYTES else parts


def poll_for(sock: Any) -> Optional[Callable[[int], Any]]:
    """Takes milliseconds, gives a list that is empty while there is nothing to read; None where the system has no poll."""
    if not hasattr(select, "poll"):
        return None
    waiting = select.poll()
    waiting.register(sock, select.POLLIN)
    return waiting.poll


def _byte_length(segment: Any) -> int:
    return segment.nbytes if type(segment) is memoryview else len(segment)


def send_frame(sock: Any, parts: List[Any]) -> None:
    """Sends every byte. Raises OSError when the other side is gone."""
    if len(parts) == 1:
        sock.sendall(parts[0])
        return
    if not hasattr(sock, "sendmsg"):  # Windows
        for part in parts:
            sock.sendall(part)
        return
    waiting = [memoryview(part).cast("B") for part in parts if _byte_length(part)]
    while waiting:
        sent = sock.sendmsg(waiting[:MAX_PARTS])
        while waiting and sent >= len(waiting[0]):
            sent -= len(waiting[0])
            waiting.pop(0)
        if sent:
            waiting[0] = waiting[0][sent:]


class FrameReader:
    """Reads frames from a blocking socket. One reader at a time."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self._buffer = bytearray(BUFFER_BYTES)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0
        # How long to wait for bytes without giving the core away (docs/host-protocol.md, Waiting awake).
        self.awake_seconds = 0.0
        self._poll = poll_for(sock)
        # After waiting awake for nothing so many readings are done asleep: twice as many with every further time.
        self._asleep = 0
        self._left_asleep = 0

    def has_frame(self) -> bool:
        """Whether a whole frame has been received already, so that reading it does not wait."""
        return self._end - self._start >= HEAD_BYTES and self._frame_bytes() <= self._end - self._start

    def read(self) -> Optional[Frame]:
        """The next frame, or None at the end of the stream."""
        if self._end - self._start < HEAD_BYTES and not self._fill(HEAD_BYTES):
            return None
        start = self._start
        word, header_bytes, segment_count, _reserved = _HEAD_WORDS.unpack_from(self._buffer, start)
        if word != _FIRST_WORD or header_bytes & 7 or header_bytes > MAX_HEADER_BYTES or segment_count > MAX_SEGMENTS:
            self._check_head()
        if segment_count == 1:
            frame = self._read_small_array(start, header_bytes)
            if frame is not None:
                return frame
        if segment_count:
            return self._read_with_segments(header_bytes, segment_count)
        size = HEAD_BYTES + header_bytes
        if self._end - start < size:
            if size > BUFFER_BYTES:
                return self._read_large(size, header_bytes, [])
            if not self._fill(size):
                raise ProtocolError("the stream ended within a frame")
            start = self._start
        self._start = end = start + size
        return str(self._view[start + HEAD_BYTES : end], "utf-8"), _NO_SEGMENTS

    def _read_small_array(self, start: int, header_bytes: int) -> Optional[Frame]:
        """A frame with one segment that is here already, as actions are; None for another."""
        first = start + TABLE_END_OF_ONE
        last = first + header_bytes
        if last > self._end:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer, start + HEAD_BYTES)
        end = last + length + (-length & 7)
        if end > self._end:
            return None
        self._start = end
        return str(self._view[first:last], "utf-8"), [self._buffer[last : last + length]]

    def _read_with_segments(self, header_bytes: int, segment_count: int) -> Optional[Frame]:
        table_end = HEAD_BYTES + 8 * segment_count
        if table_end > BUFFER_BYTES:
            return self._read_many_segments(header_bytes, segment_count)
        if not self._fill(table_end):
            raise ProtocolError("the stream ended within a frame")
        lengths = struct.unpack_from(f"<{segment_count}Q", self._buffer, self._start + HEAD_BYTES)
        size = _checked_size(table_end + header_bytes, lengths)
        if size > BUFFER_BYTES:
            return self._read_large(size, header_bytes, lengths)
        if not self._fill(size):
            raise ProtocolError("the stream ended within a frame")
        first = self._start + table_end
        text = str(self._view[first : first + header_bytes], "utf-8")
        position = first + header_bytes
        segments = []
        for length in lengths:
            segments.append(bytearray(self._view[position : position + length]))
            position += length + (-length & 7)
        self._start += size
        return text, segments

    def _read_many_segments(self, header_bytes: int, segment_count: int) -> Optional[Frame]:
        """A table larger than the buffer: it is received on its own first."""
        table = bytearray(8 * segment_count)
        self._start += HEAD_BYTES
        self._take_into(memoryview(table))
        lengths = struct.unpack(f"<{segment_count}Q", table)
        size = _checked_size(header_bytes, lengths)
        memory = bytearray(size)
        self._take_into(memoryview(memory))
        return _split(memory, 0, header_bytes, lengths)

    def _read_large(self, size: int, header_bytes: int, lengths: Any) -> Optional[Frame]:
        """A frame larger than the buffer gets memory of its own, which its arrays keep."""
        memory = bytearray(size)
        self._take_into(memoryview(memory))
        return _split(memory, HEAD_BYTES + 8 * len(lengths), header_bytes, lengths)

    def _take_into(self, target: memoryview) -> None:
        buffered = min(len(target), self._end - self._start)
        target[:buffered] = self._view[self._start : self._start + buffered]
        self._start += buffered
        position = buffered
        while position < len(target):
            received = self._sock.recv_into(target[position:])
            if received == 0:
                raise ProtocolError("the stream ended within a frame")
            position += received

    def _fill(self, size: int) -> bool:
        """Buffers at least `size` bytes; False when the stream ends exactly before the first of them."""
        if self._start == self._end:
            # Most often: everything before was read, and this is a frame, whole.
            self._start = self._end = 0
            if self.awake_seconds:
                self._wait_awake()
            self._end = received = self._sock.recv_into(self._view)
            if received >= size:
                return True
            if received == 0:
                return False
        elif self._start + size > BUFFER_BYTES:
            rest = self._end - self._start
            self._view[:rest] = bytes(self._view[self._start : self._end])
            self._start, self._end = 0, rest
        while self._end - self._start < size:
            received = self._sock.recv_into(self._view[self._end :])
            if received == 0:
                if self._end == self._start:
                    return False
                raise ProtocolError("the stream ended within a frame")
            self._end += received
        return True

    def _wait_awake(self) -> None:
        """Until bytes are there or the time is over; does nothing where that was in vain lately."""
        if self._left_asleep:
            self._left_asleep -= 1
            return
        poll = self._poll
        if poll is None:
            return
        until = perf_counter() + self.awake_seconds
        while not poll(0):
            if perf_counter() > until:
                self._asleep = min(2 * self._asleep + 1, MOST_ASLEEP)
                self._left_asleep = self._asleep
                return
        self._asleep = 0

    def _check_head(self) -> Tuple[int, int]:
        """Bytes of the header and number of segments of the next frame."""
        magic, version, _flags, header_bytes, segment_count, _ = _HEAD.unpack_from(self._buffer, self._start)
        _check_head(magic, version, header_bytes, segment_count)
        return header_bytes, segment_count

    def _frame_bytes(self) -> int:
        header_bytes, segment_count = self._check_head()
        table_end = HEAD_BYTES + 8 * segment_count
        if self._end - self._start < table_end:
            return table_end
        lengths = struct.unpack_from(f"<{segment_count}Q", self._buffer, self._start + HEAD_BYTES)
        return _checked_size(table_end + header_bytes, lengths)


def _check_head(magic: bytes, version: int, header_bytes: int, segment_count: int) -> None:
    """Raises for the head of what is no frame."""
    if magic != MAGIC or version != VERSION:
        raise ProtocolError(f"not a frame of protocol {VERSION}: it begins with {magic!r}, version {version}")
    if header_bytes > MAX_HEADER_BYTES or header_bytes & 7 or segment_count > MAX_SEGMENTS:
        raise ProtocolError(f"a frame with a header of {header_bytes} bytes and {segment_count} segments is not allowed")


def _checked_size(before: int, lengths: Any) -> int:
    size = before + sum(length + (-length & 7) for length in lengths)
    if size > MAX_FRAME_BYTES:
        raise ProtocolError(f"a frame of {size} bytes is larger than allowed")
    return size


def _split(memory: bytearray, first: int, header_bytes: int, lengths: Any) -> Frame:
    view = memoryview(memory)
    text = str(view[first : first + header_bytes], "utf-8")
    position = first + header_bytes
    segments = []
    for length in lengths:
        segments.append(view[position : position + length])
        position += length + (-length & 7)
    return text, segments
