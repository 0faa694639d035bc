"""Hot path. One connection to the engine: answers out, calls in, questions to the engine while a call runs.

Whoever waits reads: the main thread while it is idle, a thread with an open question, or the watcher while the main
thread is busy. Invariant: one reader at a time (`_reading`), one writer at a time (`_sending`).
"""

from __future__ import annotations

import itertools
import json
import select
import threading
from collections import deque
from time import perf_counter
from typing import Any, Callable, Deque, Dict, List, Optional, Set

from .errors import Aborted, HostError, describe_error
from .frames import FrameReader, ProtocolError, build_frame, poll_for, send_frame
from .shared_memory import SlotFiles
from .values import Decoder, Encoder

# A dict as docs/host-protocol.md says, or the list of a node that fires again.
Message = Any
# A call that takes longer is answered before the next one begins.
QUICK_SECONDS = 0.0001
MAX_GATHERED = 4


class Connection:
    def __init__(self, sock: Any) -> None:
        self.sock = sock
        self._reader = FrameReader(sock)
        self._encoder = Encoder()
        self._decoder = Decoder()
        self._reading = threading.Lock()
        self._sending = threading.Lock()
        self._calls: Deque[Message] = deque()
        self._questions: Dict[int, "Question"] = {}
        self._ids = itertools.count(1)
        self._slots: Optional[SlotFiles] = None
        # Set where the engine can see which call runs, whatever it has been told.
        self.gathers = False
        self._gathered: List[bytes] = []
        self._last_answer = 0.0
        # Calls that were cancelled before they began.
        self.cancelled: Set[int] = set()
        self.open_calls: Set[int] = set()
        # Called for a running call that is cancelled; from whichever thread reads.
        self.on_cancel: Callable[[int], None] = lambda call_id: None
        # Called when a thread other than the main one has queued a call.
        self.on_queued: Optional[Callable[[], None]] = None
        # Called when the engine is gone; never returns.
        self.on_end: Callable[[], None] = lambda: None

    def use_slots(self, slots: SlotFiles) -> None:
        self._slots = slots
        self._encoder.write_slot = slots.write

    def has_slots(self) -> bool:
        return self._slots is not None

    def slots_folder(self) -> Optional[str]:
        return None if self._slots is None else self._slots.folder

    def stay_awake(self, seconds: float) -> None:
        self._reader.awake_seconds = seconds

    def next_call(self) -> Optional[Message]:
        """Waits for the next call; None at the end of the stream. Main thread only."""
        calls = self._calls
        while True:
            if calls:
                return calls.popleft()
            if self._gathered and not self._reader.has_frame():
                self.flush()
            with self._reading:
                if calls:
                    continue
                message = self._read()
            if message is None:
                return None
            if type(message) is list:
                self.open_calls.add(message[0])
                return message
            if message["t"] == "call":
                self.open_calls.add(message["id"])
                return message
            self._route(message)

    def take_queued(self) -> Optional[Message]:
        """A call that has arrived already, without waiting."""
        if self._calls:
            return self._calls.popleft()
        if not self._reader.has_frame():
            return None
        self.pump(0.0)
        return self._calls.popleft() if self._calls else None

    def has_buffered(self) -> bool:
        return bool(self._calls) or self._reader.has_frame()

    def pump(self, timeout_seconds: float) -> bool:
        """Reads and routes one frame if one comes in time and nobody else is reading."""
        if not self._reading.acquire(False):
            return False
        try:
            if not self._reader.has_frame() and not _readable(self.sock, timeout_seconds):
                return False
            message = self._read()
            if message is not None:
                # Before the next reader looks whether a call is queued: it would wait for bytes that have come already.
                self._route(message)
        finally:
            self._reading.release()
        if message is None:
            self.on_end()
            return False
        return True

    def answer(self, call_id: int, result: Any) -> None:
        """Raises what encoding raises; then nothing was sent."""
        with self._sending:
            text = self._encoder.to_json(result) if self._slots is None else self._encode(result)
            self._send_answer(f'{{"t":"ok","id":{call_id},"r":{text}}}')
        self.open_calls.discard(call_id)

    def answer_outputs(self, call_id: int, result: Dict[str, Any]) -> bool:
        """The short answer to a node that fired again; False where it takes more words, and then nothing was sent."""
        outputs = result.get("outputs")
        if type(outputs) is not dict:
            return False
        with self._sending:
            try:
                text = self._encoder.members_text(outputs)
            except BaseException:  # noqa: B036 - whatever user values raise is raised again in the long form
                self._take_slots_back()
                return False
            self._send_answer(f"[{call_id},{text}]")
        self.open_calls.discard(call_id)
        return True

    def _send_answer(self, header: str) -> None:
        parts = build_frame(header, self._encoder.segments)
        if self.gathers and self._gather(parts):
            return
        if len(parts) == 1:
            self.sock.sendall(parts[0])
        else:
            send_frame(self.sock, parts)

    def _gather(self, parts: List[Any]) -> bool:
        """Keeps a small answer while further calls have arrived already: the engine is then woken once for several."""
        now = perf_counter()
        is_quick = now - self._last_answer < QUICK_SECONDS
        self._last_answer = now
        gathered = self._gathered
        if len(parts) > 1:
            self._send_gathered()
            return False
        if is_quick and len(gathered) < MAX_GATHERED and (self._calls or self._reader.has_frame()):
            gathered.append(parts[0])
            return True
        if gathered:
            gathered.append(parts[0])
            self._send_gathered()
            return True
        return False

    def flush(self) -> None:
        """Sends what was gathered; from any thread."""
        if self._gathered:
            with self._sending:
                self._send_gathered()

    def _send_gathered(self) -> None:
        if self._gathered:
            data = b"".join(self._gathered)
            self._gathered.clear()
            self.sock.sendall(data)

    def answer_error(self, call_id: int, error: BaseException) -> None:
        self.cancelled.discard(call_id)
        self.open_calls.discard(call_id)
        self._send_plain({"t": "err", "id": call_id, "e": describe_error(error)})

    def note(self, method: str, params: Dict[str, Any]) -> None:
        self._send_plain({"t": "note", "m": method, "p": params})

    def ask(self, method: str, params: Dict[str, Any], call_id: int) -> Any:
        """Asks the engine on behalf of a running call and waits for the answer, reading meanwhile."""
        question = Question()
        self.send_question(question, method, params, call_id)
        settled = question.settled
        while not settled.is_set():
            if not self.pump(0.02):
                settled.wait(0.005)
        return question.result()

    def send_question(self, question: "Question", method: str, params: Dict[str, Any], call_id: int) -> None:
        with self._sending:
            self._send_gathered()
            text = self._encode(params)
            question_id = next(self._ids)
            self._questions[question_id] = question
            header = f'{{"t":"call","id":{question_id},"m":{json.dumps(method)},"c":{call_id},"p":{text}}}'
            send_frame(self.sock, build_frame(header, self._encoder.segments))

    def close(self) -> None:
        self.flush()
        if self._slots is not None:
            self._slots.close()
        self.sock.close()

    def _encode(self, value: Any) -> str:
        try:
            return self._encoder.to_json(value)
        except BaseException:
            self._take_slots_back()
            raise

    def _take_slots_back(self) -> None:
        if self._slots is not None:
            for slot in self._encoder.slots:
                self._slots.release(slot)

    def _send_plain(self, message: Message) -> None:
        with self._sending:
            self._send_gathered()
            send_frame(self.sock, build_frame(json.dumps(message, separators=(",", ":")), []))

    def _read(self) -> Optional[Message]:
        frame = self._reader.read()
        if frame is None:
            return None
        text, segments = frame
        try:
            message = self._decoder.from_json(text, segments)
            if type(message) is list:
                if len(message) != 5 or type(message[0]) is not int:
                    raise ValueError("a list that is no firing")
                return message
            kind = message["t"]
        except (ValueError, KeyError, IndexError, TypeError, StopIteration) as error:
            raise ProtocolError(f"a header is not of the right form: {error!r}") from error
        if kind == "call" and not isinstance(message.get("id"), int):
            raise ProtocolError("a call without a number")
        return message

    def _route(self, message: Message) -> None:
        kind = "call" if type(message) is list else message["t"]
        if kind == "call":
            self.open_calls.add(call_number(message))
            self._calls.append(message)
            if self.on_queued is not None:
                self.on_queued()
        elif kind == "ok" or kind == "err":
            question = self._questions.pop(message["id"], None)
            if question is not None:
                question.settle(message)
        elif kind == "cancel":
            # A cancel that comes after its call was answered has nothing left to do.
            if message["id"] in self.open_calls:
                self.cancelled.add(message["id"])
                self.on_cancel(message["id"])
        elif kind == "note" and message.get("m") == "ack" and self._slots is not None:
            self._slots.release(int(message["p"]["slot"]))


def call_number(message: Message) -> int:
    return message[0] if type(message) is list else message["id"]


class Question:
    """One question to the engine; settled by whichever thread reads its answer."""

    def __init__(self) -> None:
        self.settled = threading.Event()
        self._message: Optional[Message] = None

    def settle(self, message: Message) -> None:
        self._message = message
        self.settled.set()

    def result(self) -> Any:
        message = self._message
        assert message is not None
        if message["t"] == "ok":
            return message.get("r")
        error = message.get("e") or {}
        if error.get("code") == "aborted":
            raise Aborted()
        raise HostError(error.get("code", "remote_error"), error.get("message", "the engine refused"))


def _readable(sock: Any, timeout_seconds: float) -> bool:
    poll = poll_for(sock)
    if poll is not None:
        return bool(poll(int(timeout_seconds * 1000)))
    return bool(select.select([sock], [], [], timeout_seconds)[0])
