"""Hot path. Serves calls in order on the main thread; calls of nodes that really wait go on as tasks meanwhile.

While nothing waits the main thread blocks in the socket and no event loop turns. Invariant: every call is answered
exactly once, cancelled ones too.
"""

from __future__ import annotations

import struct
from typing import Any, Dict, List, Optional

from .connection import Connection, Message, call_number
from .context import NodeSession
from .coroutines import EventLoop, is_coroutine
from .errors import Aborted, HostError
from .nodeset_service import NodesetService
from .process_guard import Watcher
from .shared_memory import SlotFiles
from .slots import InSlot, ServedSlots


_TURN = struct.Struct("<Q")


class Server:
    def __init__(
        self,
        connection: Connection,
        service: Optional[NodesetService],
        loop: EventLoop,
        owner: str,
        slots: Optional[ServedSlots] = None,
        sessions: Optional[Dict[int, NodeSession]] = None,
    ) -> None:
        """One nodeset, or `slots` of it. `sessions`: those that its services opened with a handle."""
        self._sessions = {} if sessions is None else sessions
        self._connection = connection
        self._service: Any = service
        self._slots = slots
        self._turn: Any = None
        self._event_loop = loop
        self._owner = owner
        self._tasks: Dict[int, Any] = {}
        self._looping = False
        self._stopped = False
        self.watcher: Any = None
        connection.on_cancel = self._cancel

    def serve(self) -> None:
        """Until `shutdown` is answered or the engine is gone."""
        connection = self._connection
        while not self._stopped:
            message = connection.next_call()
            if message is None:
                return
            self._handle(message)
            # The loop may have been left in the very turn in which a call came that waits.
            while (self._tasks or self._event_loop.has_work()) and not self._stopped:
                self._turn_loop()

    def _handle(self, message: Message) -> None:
        if type(message) is list:
            self._fire_again(message)
            return
        connection = self._connection
        call_id = message["id"]
        watcher: Watcher = self.watcher
        watcher.call_number += 1
        watcher.busy = True
        try:
            if connection.cancelled and call_id in connection.cancelled:
                raise Aborted()
            if self._slots is None:
                result = self._service.serve(message["m"], message.get("p") or {}, call_id)
            else:
                result = self._serve_slot(self._slots, message)
        except BaseException as error:  # noqa: B036 - whatever a node raises is its call's answer
            connection.answer_error(call_id, error)
        else:
            if type(result) is not dict and is_coroutine(result):
                self._start_task(message, result)
            else:
                self._answer(message, result)
        finally:
            watcher.busy = False

    def _fire_again(self, message: Message) -> None:
        """What `_handle` does, for a node that the engine names by its handle: nearly all calls of a run are that."""
        connection = self._connection
        call_id, handle, step, seed, inputs = message
        watcher: Watcher = self.watcher
        watcher.call_number += 1
        watcher.busy = True
        try:
            if connection.cancelled and call_id in connection.cancelled:
                raise Aborted()
            session = self._sessions.get(handle)
            if session is None:
                raise HostError("protocol_error", f"no node of this host has the handle {handle!r}")
            service = session.service
            if self._slots is not None:
                if self._turn is not None:
                    self._turn[0:8] = _TURN.pack(call_id)
                self._slots.select(service.slot)
            result = service.fire(session, call_id, step, seed, inputs)
        except BaseException as error:  # noqa: B036 - whatever a node raises is its call's answer
            connection.answer_error(call_id, error)
        else:
            if type(result) is not dict and is_coroutine(result):
                self._start_task(message, result)
            elif connection.cancelled or len(result) != 1 or not connection.answer_outputs(call_id, result):
                self._answer(message, result)
        finally:
            watcher.busy = False

    def _serve_slot(self, slots: ServedSlots, message: Message) -> Any:
        if message["m"] == "shutdown":
            return slots.shutdown()
        turn = self._turn
        if turn is not None:
            turn[0:8] = _TURN.pack(message["id"])
        service = slots.select(message.get("s", 0))
        return service.serve(message["m"], message.get("p") or {}, message["id"])

    def _answer(self, message: Message, result: Any) -> None:
        """An OSError from here means that the connection is gone; anything else is the call's answer."""
        connection = self._connection
        fires_again = type(message) is list
        call_id = message[0] if fires_again else message["id"]
        if not fires_again and message["m"] == "hello":
            result = self._negotiate(message.get("p") or {}, result)
        try:
            connection.answer(call_id, result)
        except OSError:
            raise
        except BaseException as error:  # noqa: B036 - what a node returned could not be encoded
            self._answer_declared(message, result, error)
        if connection.cancelled:
            connection.cancelled.discard(call_id)
        if not fires_again and message["m"] == "shutdown":
            self._stopped = True

    def _answer_declared(self, message: Message, result: Any, error: BaseException) -> None:
        """Outputs that no port declares may be anything; without them the rest can perhaps be sent."""
        declared = self._declared_only(message, result)
        try:
            if declared is None:
                raise error
            self._connection.answer(call_number(message), declared)
        except OSError:
            raise
        except BaseException as second:  # noqa: B036 - as above
            self._connection.answer_error(call_number(message), second)

    def _declared_only(self, message: Message, result: Any) -> Any:
        if not isinstance(result, dict) or "outputs" not in result:
            return None
        declared = self._declared_outputs(message)
        if declared is None:
            return None
        names = [*declared, "error"]
        outputs = {name: value for name, value in result["outputs"].items() if name in names}
        return None if len(outputs) == len(result["outputs"]) else {**result, "outputs": outputs}

    def _declared_outputs(self, message: Message) -> Optional[List[str]]:
        """Of the node that the message fires; None for another call."""
        if type(message) is list:
            session = self._sessions.get(message[1])
            return None if session is None else [port.name for port in getattr(session.tool, "output_ports", None) or ()]
        if message["m"] != "node.forward":
            return None
        service = self._service if self._slots is None else self._slots.select(message.get("s", 0))
        return service.declared_outputs(message["p"].get("type", ""))

    def _negotiate(self, params: Dict[str, Any], result: Dict[str, Any]) -> Dict[str, Any]:
        """Every `hello` is told the same: each environment of a process says one."""
        asked = params.get("features") or ()
        self._connection.stay_awake(float(params.get("awake_us") or 0) / 1e6)
        agreed: Dict[str, Any] = {"features": ["again"] if "again" in asked else []}
        folder = self._shared_folder() if "shm" in asked else None
        if folder is not None:
            agreed["features"].append("shm")
            agreed["shm_dir"] = folder
        return {**result, **agreed}

    def _shared_folder(self) -> Optional[str]:
        if not self._connection.has_slots():
            slots = SlotFiles.create(self._owner)
            if slots is None:
                return None
            self._connection.use_slots(slots)
            if self._slots is not None:
                self._show_turns(slots)
        return self._connection.slots_folder()

    def _show_turns(self, slots: SlotFiles) -> None:
        try:
            self._turn = slots.open_turn()
        except OSError:
            return
        self._connection.gathers = True

    # Calls that wait

    def _start_task(self, message: Message, coroutine: Any) -> None:
        slot = None if self._slots is None else self._slot_of(message)
        awaited = coroutine if slot is None else InSlot(coroutine, lambda: self._slots.select(slot))

        async def waited() -> Any:
            return await awaited

        task = self._event_loop.get().create_task(waited())
        self._tasks[call_number(message)] = task
        if self._slots is not None:
            # The engine then knows that the next call has its turn.
            self._connection.note("waits", {"id": call_number(message)})
        task.add_done_callback(lambda done: self._task_done(message, done))

    def _slot_of(self, message: Message) -> Optional[int]:
        """None for a call of the whole process."""
        if type(message) is list:
            session = self._sessions.get(message[1])
            return None if session is None else session.service.slot
        return None if message["m"] == "shutdown" else message.get("s", 0)

    def _task_done(self, message: Message, task: Any) -> None:
        del self._tasks[call_number(message)]
        try:
            error = Aborted() if task.cancelled() else task.exception()
            if error is not None:
                self._connection.answer_error(call_number(message), error)
            else:
                self._answer(message, task.result())
        except OSError:
            self._connection.on_end()
        self._leave_loop_when_idle()

    def _cancel(self, call_id: int) -> None:
        (self._service if self._slots is None else self._slots).cancel(call_id)
        task = self._tasks.get(call_id)
        if task is not None:
            self._event_loop.get().call_soon_threadsafe(task.cancel)

    def _turn_loop(self) -> None:
        """Runs the event loop until nothing waits any more, serving further calls meanwhile."""
        loop = self._event_loop.get()
        connection = self._connection
        connection.flush()
        gathers, connection.gathers = connection.gathers, False
        loop.add_reader(connection.sock.fileno(), self._read_in_loop)
        connection.on_queued = lambda: loop.call_soon_threadsafe(self._serve_queued)
        loop.call_soon(self._serve_queued)
        try:
            loop.run_forever()
        finally:
            connection.gathers = gathers
            connection.on_queued = None
            loop.remove_reader(connection.sock.fileno())

    def _read_in_loop(self) -> None:
        self._connection.pump(0.0)
        self._serve_queued()

    def _serve_queued(self) -> None:
        while not self._stopped:
            message = self._connection.take_queued()
            if message is None:
                break
            self._handle(message)
        self._leave_loop_when_idle()

    def _leave_loop_when_idle(self) -> None:
        if self._tasks:
            return
        import asyncio

        loop = self._event_loop.get()
        others = asyncio.all_tasks(loop)
        if others and not self._stopped:
            # Background work of user code: it goes on as long as it lives.
            next(iter(others)).add_done_callback(lambda _: self._leave_loop_when_idle())
        else:
            loop.stop()
