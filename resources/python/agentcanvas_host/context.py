"""What a node knows about the firing it is in. One object per (execution, node), kept until `execution.end`.

Any attribute a node sets stays until then; one that was never set reads as None, as nodes of AgentCanvas expect.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .containers import GrantedContainer

Ask = Callable[[str, Dict[str, Any], int], Any]


class NodeContext:
    # Defaults on the class: a new context costs one dict.
    execution_id = ""
    node_id = ""
    step = 0
    seed = 0
    # True once the engine has given up on the running call; long work should look at it.
    cancelled = False

    def __init__(self, execution_id: str, node_id: str, containers: Dict[str, Any]) -> None:
        self.execution_id = execution_id
        self.node_id = node_id
        self.containers = containers
        self._signals: List[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def emit_signal(self, name: str) -> None:
        """Resets the state containers of the graph whose `reset_on` names it."""
        self._signals.append(name)

    def take_signals(self) -> List[str]:
        signals, self._signals = self._signals, []
        return signals


class NodeSession:
    """A node in one execution: its tool, its resolved config, its context and the log of the firing under way."""

    __slots__ = ("tool", "config", "context", "log", "call_id", "fire_list", "forward", "ask", "own_log", "batched", "handle", "service")

    def __init__(self, tool: Any, context: NodeContext, ask: Ask) -> None:
        self.tool = tool
        self.config: Dict[str, Any] = {}
        self.context = context
        self.log: List[Dict[str, Any]] = []
        self.call_id = 0
        self.fire_list: Optional[Any] = None
        self.forward = tool.forward
        self.ask = ask
        # The tool's own way of telling its log, where it has one.
        self.own_log: Optional[Callable[[], Any]] = None if _has_plain_log(tool) else tool.log
        self.batched = bool(getattr(tool, "batched", False))
        # Under which the engine fires it again, and the service whose node it is.
        self.handle: Optional[int] = None
        self.service: Any = None

    def grant(self, container_ids: Sequence[str], owned: Dict[str, Any]) -> None:
        containers: Dict[str, Any] = dict(owned)
        for container_id in container_ids:
            containers[container_id] = GrantedContainer(container_id, self.ask_engine)
        self.context.containers = containers

    def ask_engine(self, method: str, params: Dict[str, Any]) -> Any:
        return self.ask(method, params, self.call_id)



def _has_plain_log(tool: Any) -> bool:
    from app.components.bases import BaseCanvasNode

    return getattr(type(tool), "log", None) is BaseCanvasNode.log and "log" not in vars(tool)


# The firing whose coroutine is running now. Set only for nodes that really wait, because their firings interleave.
current_session: ContextVar[Optional[NodeSession]] = ContextVar("current_session", default=None)

def log_pairs(entries: Any) -> List[Tuple[str, Any]]:
    pairs = []
    for entry in entries or ():
        if isinstance(entry, dict) and "key" in entry:
            pairs.append([str(entry["key"]), entry.get("value")])
    return pairs
