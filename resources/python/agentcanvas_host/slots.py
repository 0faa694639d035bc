"""Several environments in one process: each slot has its own nodeset, freshly imported, and its own sessions.

Calls of all slots are served one after another, in the order they came. What Python keeps once per process (the modules
a nodeset imports, `random`, the working folder) is shared by the slots; names that AgentCanvas keeps by nodeset are not.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from .context import NodeSession
from .coroutines import is_coroutine
from .errors import HostError
from .nodeset_service import NodesetService

# What `get_env_panel` and `get_services` find.
Names = Tuple[Dict[str, Any], Dict[str, Any]]


class InSlot:
    """Awaits a coroutine whose every step runs with its slot's names, whatever other slots did meanwhile."""

    def __init__(self, coroutine: Any, enter: Callable[[], Any]) -> None:
        self._coroutine = coroutine
        self._enter = enter

    def __await__(self) -> Any:
        steps = self._coroutine.__await__()
        go_on, argument = steps.send, None
        while True:
            self._enter()
            try:
                awaited = go_on(argument)
            except StopIteration as end:
                return end.value
            try:
                argument = yield awaited
                go_on = steps.send
            except BaseException as error:  # noqa: B036 - a cancelled task is told by what is thrown here
                go_on, argument = steps.throw, error


class ServedSlots:
    """Chooses the service of a call by its member `s`."""

    def __init__(self, make_service: Callable[[int], NodesetService], count: int) -> None:
        self._services = [make_service(slot) for slot in range(count)]
        for slot, service in enumerate(self._services):
            service.slot = slot
        self._names: List[Names] = [({}, {}) for _ in range(count)]
        self._app_names: Any = None
        self._active = 0

    def select(self, slot: Any) -> NodesetService:
        """Hot path. The slot's service; its names are those that user code meets from now on."""
        if slot != self._active:
            if type(slot) is not int or not 0 <= slot < len(self._services):
                raise HostError("protocol_error", f"this process has no slot {slot!r}; it serves {len(self._services)}")
            panels, nodesets = self._app_names or self._find_app_names()
            self._names[self._active] = (panels._env_panels, nodesets._live_nodesets)
            panels._env_panels, nodesets._live_nodesets = self._names[slot]
            self._active = slot
        return self._services[slot]

    def _find_app_names(self) -> Any:
        from app.components import env_panel
        from app.state import get_services

        self._app_names = env_panel, get_services().workspace_component_registry
        return self._app_names

    def cancel(self, call_id: int) -> None:
        for service in self._services:
            service.cancel(call_id)

    def current_session(self) -> Optional[NodeSession]:
        """The session of the firing that began last."""
        return self._services[self._active].current_session()

    async def shutdown(self) -> Any:
        """All slots end; one that fails does not keep the others from it."""
        failure: Optional[BaseException] = None
        for slot in range(len(self._services)):
            try:
                ended = self.select(slot).shutdown()
                if is_coroutine(ended):
                    await ended
            except BaseException as error:  # noqa: B036 - whatever user code raises while it ends
                failure = failure or error
        if failure is not None:
            raise failure
        return {}
