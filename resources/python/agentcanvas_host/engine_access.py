"""The way from user code to the engine while a call runs: chat models, signals.

Invariant: outside a call, and in the HTTP mode, asking fails with an error that says so.
"""

from __future__ import annotations

import threading
from typing import Any, Dict, Optional

from .connection import Question
from .context import current_session
from .errors import HostError

_connection: Optional[Any] = None
_service: Optional[Any] = None
_loop: Optional[Any] = None


def connect(connection: Any, service: Any, loop: Any) -> None:
    global _connection, _service, _loop
    _connection, _service, _loop = connection, service, loop


def ask(method: str, params: Dict[str, Any]) -> Any:
    """Asks and waits; from any thread."""
    return _connected().ask(method, params, _current_call())


async def ask_and_wait(method: str, params: Dict[str, Any]) -> Any:
    """Asks; other calls are served until the answer is there."""
    import asyncio

    connection = _connected()
    call_id = _current_call()
    loop = asyncio.get_running_loop()
    if _loop is None or loop is not _loop.get():
        # Another event loop, in a thread of the user's: that thread waits itself.
        return await loop.run_in_executor(None, lambda: connection.ask(method, params, call_id))
    arrived = loop.create_future()
    question = _Awaited(loop, arrived)
    connection.send_question(question, method, params, call_id)
    await arrived
    return question.result()


class _Awaited(Question):
    def __init__(self, loop: Any, arrived: Any) -> None:
        super().__init__()
        self._loop = loop
        self._arrived = arrived
        self._thread = threading.get_ident()

    def settle(self, message: Dict[str, Any]) -> None:
        super().settle(message)
        if threading.get_ident() == self._thread:
            self._set()
        else:
            self._loop.call_soon_threadsafe(self._set)

    def _set(self) -> None:
        if not self._arrived.done():
            self._arrived.set_result(None)


def _connected() -> Any:
    if _connection is None:
        raise HostError("unsupported", "there is no engine to ask: this nodeset is served over HTTP or used on its own")
    return _connection


def _current_call() -> int:
    session = current_session.get() or (_service.current_session() if _service is not None else None)
    if session is None:
        raise HostError("unsupported", "the engine can be asked only while a node fires")
    return session.call_id
