"""Hot path. Running what nodes return: many an `async def` never waits, and then needs no event loop.

Invariant: a coroutine that waits is always run as a task, so that `asyncio.current_task()` and timeouts work in it.
"""

from __future__ import annotations

import dis
import sys
from types import CodeType, CoroutineType
from typing import Any, Dict, Optional

# `await` (also of `async with` and `async for`) compiles to this instruction in every supported version.
_WAITING_INSTRUCTION = "GET_AWAITABLE"
_waits: Dict[CodeType, bool] = {}


def is_coroutine(value: Any) -> bool:
    return type(value) is CoroutineType or hasattr(value, "__await__")


def finishes_at_once(coroutine: Any) -> bool:
    """True when its code contains no `await`: one step then finishes it."""
    code = getattr(coroutine, "cr_code", None)
    if code is None:
        return False
    waits = _waits.get(code)
    if waits is None:
        waits = any(instruction.opname == _WAITING_INSTRUCTION for instruction in dis.get_instructions(code))
        _waits[code] = waits
    return not waits


class EventLoop:
    """The process's event loop, made when something first needs it."""

    def __init__(self) -> None:
        self._loop: Optional[Any] = None

    def get(self) -> Any:
        if self._loop is None:
            import asyncio

            # The selector loop can watch sockets on every system.
            self._loop = asyncio.SelectorEventLoop()
            asyncio.set_event_loop(self._loop)
        return self._loop

    def has_work(self) -> bool:
        """Whether user code left something to be run soon, for example with `create_task`."""
        return self._loop is not None and bool(getattr(self._loop, "_ready", None))

    def run_at_once(self, coroutine: Any) -> Any:
        """Result of a coroutine that never waits. `asyncio.get_running_loop()` works within it."""
        asyncio = sys.modules.get("asyncio")
        if asyncio is None:
            return _only_step(coroutine)
        outer = asyncio._get_running_loop()
        if outer is not None:
            return _only_step(coroutine)
        asyncio._set_running_loop(self.get())
        try:
            return _only_step(coroutine)
        finally:
            asyncio._set_running_loop(None)

    def run(self, awaitable: Any) -> Any:
        """Result of any awaitable, from outside the loop."""
        if finishes_at_once(awaitable):
            return self.run_at_once(awaitable)

        async def waited() -> Any:
            return await awaitable

        return self.get().run_until_complete(waited())


def _only_step(coroutine: Any) -> Any:
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise RuntimeError("a coroutine without await did not finish at once")
